/* realm_internal.h - what the files that make a realm share. */
#pragma once

#include "mesh/model/realm.h"

void realm__make_services(struct realm *w);
void realm__add_endpoints(struct realm *w);
void realm__make_rules(struct realm *w);
void realm__make_virtual_services(struct realm *w);
struct mesh_endpoint *realm__endpoint(struct realm *w, struct mesh_port *p);
