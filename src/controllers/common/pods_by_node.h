/* pods_by_node.h - the pods that a node has been given, by an index of the cache of pods. */
#pragma once

#include <sampan/informer.h>

/* Before the informer starts; more than once will do. */
void pods_by_node_index(struct spn_cache *pods);
/* The caller gives the references back (spn_objects_done). */
void pods_by_node(struct spn_cache *pods, struct spn_text node, struct spn_objects *ret);
