/* suite_model.h - random operations on a store and on a model that is too simple to be wrong. */
#pragma once

void model_agrees(void **state);
