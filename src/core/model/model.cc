// Compiles the headers of the model on their own.
#include "core/model/effects.h"
#include "core/model/event.h"
#include "core/model/peers.h"
#include "core/model/timer_queue.h"
#include "core/model/views.h"
