#include "store/suite.h"

#include "base/banned.h"

int main(void)
{
    return suite_run(STORE_MEMORY);
}
