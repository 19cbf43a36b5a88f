// The program of bench/informer_bench.c, written with client-go.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

func used() (float64, float64) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	cpu := float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
	return cpu, float64(u.Maxrss) / 1024
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	fail(err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	fail(err)

	began := time.Now()
	cpuBefore, _ := used()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().ConfigMaps().Informer()
	var seen atomic.Uint64
	enqueue := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial {
				seen.Add(1)
			}
			enqueue(obj)
		},
		UpdateFunc: func(_, obj any) { seen.Add(1); enqueue(obj) },
		DeleteFunc: func(obj any) { seen.Add(1); enqueue(obj) },
	})
	fail(err)
	go func() {
		for {
			key, stop := queue.Get()
			if stop {
				return
			}
			queue.Forget(key)
			queue.Done(key)
		}
	}()
	stop := make(chan struct{})
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, registration.HasSynced) {
		fail(fmt.Errorf("not synced"))
	}
	wall := time.Since(began).Seconds()
	cpu, rss := used()
	fmt.Printf("sync: %d objects in %.3f s, cpu %.3f s, rss %.1f MB\n", len(informer.GetStore().ListKeys()), wall, cpu-cpuBefore, rss)

	if flag.NArg() > 0 {
		wanted, err := strconv.ParseUint(flag.Arg(0), 10, 64)
		fail(err)
		for seen.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		began, before := time.Now(), 0.0
		before, _ = used()
		for seen.Load() < wanted {
			time.Sleep(time.Millisecond)
		}
		wall := time.Since(began).Seconds()
		cpu, _ := used()
		fmt.Printf("events: %d in %.3f s, %.0f per second, cpu %.2f us each\n", wanted, wall, float64(wanted)/wall, 1e6*(cpu-before)/float64(wanted))
	}
	queue.ShutDown()
	close(stop)
}
