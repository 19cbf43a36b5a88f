/* fake_kms SOCKET - a key management service for tests. Each SIGUSR1 gives it another key, each
 * SIGUSR2 makes it ill or well, SIGTERM ends it. Says "ready" when it listens. */
#include <signal.h>
#include <stdio.h>

#include "server/secrecy/suite_kms.h"

int main(int argc, char **argv)
{
    static struct suite_kms kms;
    sigset_t signals;
    int sig = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (argc != 2 || !suite_kms_start(&kms, argv[1]))
        return 1;
    puts("ready");
    (void)fflush(stdout);
    while (sigwait(&signals, &sig) == 0 && sig != SIGTERM) {
        if (sig == SIGUSR1)
            kms.key_number++;
        else
            kms.is_ill = !kms.is_ill;
    }
    suite_kms_stop(&kms);
    return 0;
}
