//! A program on kube-rs against the server that KUBECONFIG names: the typed client, its watcher with
//! initial events, and the dynamic client. It ends with 0 only if every expectation holds.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Debug;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, DynamicObject, ListParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt, discovery};
use serde_json::{Value, from_value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const OURS: &str = "app=clients";
static PASSED: AtomicUsize = AtomicUsize::new(0);
static FAILED: AtomicUsize = AtomicUsize::new(0);

fn expect(what: &str, ok: bool, got: impl Debug) {
    if ok {
        PASSED.fetch_add(1, Ordering::Relaxed);
    } else {
        FAILED.fetch_add(1, Ordering::Relaxed);
        println!("FAILED {what}\n  got: {got:?}");
    }
}

/// The answer's code and reason, for calls that should be refused.
fn refusal<T>(answer: kube::Result<T>) -> String {
    match answer {
        Ok(_) => "no error".into(),
        Err(kube::Error::Api(status)) => format!("{} {}", status.code, status.reason),
        Err(e) => e.to_string(),
    }
}

/// Collects "EVENT name" from a watch.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn add(&self, event: &str, name: &str) {
        self.0.lock().unwrap().push(format!("{event} {name}"));
    }

    /// Waits until the events are the given ones; the time only guards against hanging.
    async fn want(&self, what: &str, wanted: &[&str]) {
        let end = Instant::now() + Duration::from_secs(20);
        while *self.0.lock().unwrap() != wanted && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let events = self.0.lock().unwrap().clone();
        expect(what, events == wanted, events);
    }
}

fn config_map(name: &str, tier: &str) -> ConfigMap {
    from_value(json!({
        "metadata": {"name": name, "labels": {"app": "clients", "tier": tier}},
        "data": {"n": "1"},
    }))
    .unwrap()
}

fn with(map: &ConfigMap, n: &str) -> ConfigMap {
    let data = BTreeMap::from([("n".to_string(), n.to_string())]);
    ConfigMap {
        data: Some(data),
        ..map.clone()
    }
}

async fn watch_into(maps: Api<ConfigMap>, version: String, seen: Seen) -> kube::Result<()> {
    let mut events = maps
        .watch(&WatchParams::default().labels(OURS), &version)
        .await?
        .boxed();
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Added(map) => seen.add("ADDED", &map.name_any()),
            WatchEvent::Modified(map) => seen.add("MODIFIED", &map.name_any()),
            WatchEvent::Deleted(map) => seen.add("DELETED", &map.name_any()),
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => seen.add("ERROR", &status.message),
        }
    }
    Ok(())
}

async fn life(maps: &Api<ConfigMap>) -> Result<()> {
    let before = maps.list(&ListParams::default().labels(OURS)).await?;
    expect("the list is empty", before.items.is_empty(), &before.items);
    let seen = Seen::default();
    let version = before.metadata.resource_version.unwrap_or_default();
    let watch = tokio::spawn(watch_into(maps.clone(), version, seen.clone()));

    let post = PostParams::default();
    let made = maps.create(&post, &config_map("one", "none")).await?;
    expect(
        "uid, revision and time are set",
        made.uid().is_some()
            && made.resource_version().is_some()
            && made.creation_timestamp().is_some(),
        &made,
    );
    seen.want("ADDED", &["ADDED one"]).await;
    let said = refusal(maps.create(&post, &config_map("one", "none")).await);
    expect("a second one is refused", said == "409 AlreadyExists", said);
    let said = refusal(maps.create(&post, &config_map("Not A Name", "none")).await);
    expect("a bad name is refused", said == "422 Invalid", said);

    let got = maps.get("one").await?;
    expect(
        "get gives what was created",
        got.uid() == made.uid() && got.data == made.data,
        &got,
    );
    let updated = maps.replace("one", &post, &with(&got, "2")).await?;
    expect(
        "the revision changed",
        updated.resource_version() != made.resource_version(),
        &updated,
    );
    seen.want("MODIFIED", &["ADDED one", "MODIFIED one"]).await;

    let said = refusal(maps.replace("one", &post, &with(&made, "3")).await);
    expect("a stale update is a conflict", said == "409 Conflict", said);
    let retried = maps.replace("one", &post, &with(&updated, "3")).await?;
    expect(
        "the retry with the new revision succeeds",
        retried.data == with(&made, "3").data,
        &retried,
    );

    let gone = maps.delete("one", &DeleteParams::default()).await?;
    expect(
        "delete says so",
        gone.right().is_some_and(|status| status.is_success()),
        (),
    );
    seen.want(
        "DELETED",
        &["ADDED one", "MODIFIED one", "MODIFIED one", "DELETED one"],
    )
    .await;
    expect("it is gone", maps.get_opt("one").await?.is_none(), ());
    watch.abort();
    Ok(())
}

async fn pages(maps: &Api<ConfigMap>) -> Result<()> {
    let all: Vec<String> = (0..25).map(|i| format!("page-{i:02}")).collect();
    for (i, name) in all.iter().enumerate() {
        maps.create(
            &PostParams::default(),
            &config_map(name, ["even", "odd"][i % 2]),
        )
        .await?;
    }
    let (mut sizes, mut names) = (vec![], vec![]);
    let mut params = ListParams::default().labels(OURS).limit(10);
    loop {
        let page = maps.list(&params).await?;
        sizes.push(page.items.len());
        names.extend(page.items.iter().map(ResourceExt::name_any));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
    }
    expect("three pages", sizes == [10, 10, 5], sizes);
    expect("every name once and in order", names == all, names);

    let odd = maps
        .list(&ListParams::default().labels("app=clients,tier in (odd)"))
        .await?;
    expect("the odd ones", odd.items.len() == 12, odd.items.len());
    let by_name = maps
        .list(&ListParams::default().fields("metadata.name=page-07"))
        .await?;
    expect("one by its name", by_name.items.len() == 1, by_name.items);

    maps.delete_collection(
        &DeleteParams::default(),
        &ListParams::default().labels("tier=odd"),
    )
    .await?;
    let rest = maps.list(&ListParams::default().labels(OURS)).await?;
    expect(
        "the even ones stay",
        rest.items.len() == 13,
        rest.items.len(),
    );
    maps.delete_collection(
        &DeleteParams::default(),
        &ListParams::default().labels(OURS),
    )
    .await?;
    Ok(())
}

async fn informer(maps: &Api<ConfigMap>, config: watcher::Config) -> Result<()> {
    maps.create(&PostParams::default(), &config_map("before", "none"))
        .await?;
    let seen = Seen::default();
    let (source, sink) = (maps.clone(), seen.clone());
    let task = tokio::spawn(async move {
        let mut events = watcher(source, config.labels(OURS)).boxed();
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Init) => sink.add("init", ""),
                Ok(watcher::Event::InitApply(map)) => sink.add("initial", &map.name_any()),
                Ok(watcher::Event::InitDone) => sink.add("done", ""),
                Ok(watcher::Event::Apply(map)) => sink.add("apply", &map.name_any()),
                Ok(watcher::Event::Delete(map)) => sink.add("delete", &map.name_any()),
                Err(e) => sink.add("error", &e.to_string()),
            }
        }
    });
    seen.want("the watcher starts", &["init ", "initial before", "done "])
        .await;
    let mut made = maps
        .create(&PostParams::default(), &config_map("after", "none"))
        .await?;
    made.labels_mut().remove("app");
    maps.replace("after", &PostParams::default(), &made).await?;
    let wanted = [
        "init ",
        "initial before",
        "done ",
        "apply after",
        "delete after",
    ];
    seen.want("the watcher goes on", &wanted).await;
    task.abort();
    maps.delete("before", &DeleteParams::default()).await?;
    maps.delete("after", &DeleteParams::default()).await?;
    Ok(())
}

async fn workloads(client: &Client, ns: &str) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), ns);
    let made = deployments
        .create(
            &PostParams::default(),
            &from_value(json!({
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]},
                    },
                },
            }))?,
        )
        .await?;
    expect(
        "a deployment of generation 1",
        made.metadata.generation == Some(1),
        &made,
    );
    let scale = deployments.get_scale("web").await?;
    let replicas = scale.spec.and_then(|spec| spec.replicas);
    expect("two replicas", replicas == Some(2), replicas);
    deployments.delete("web", &DeleteParams::default()).await?;

    let (secret, _) = discovery::pinned_kind(
        client,
        &kube::core::GroupVersionKind::gvk("", "v1", "Secret"),
    )
    .await?;
    let secrets: Api<DynamicObject> = Api::namespaced_with(client.clone(), ns, &secret);
    let body = DynamicObject::new("s", &secret).data(json!({"data": {"key": "dmFsdWU="}}));
    secrets.create(&PostParams::default(), &body).await?;
    let value: Value = secrets.get("s").await?.data["data"]["key"].clone();
    expect("a kind found by discovery", value == "dmFsdWU=", value);
    Ok(())
}

async fn run() -> Result<()> {
    let client = Client::try_default().await?;
    expect(
        "the version",
        client.apiserver_version().await?.major == "1",
        (),
    );
    let spaces: Api<Namespace> = Api::all(client.clone());
    let names: Vec<String> = spaces
        .list(&ListParams::default())
        .await?
        .iter()
        .map(ResourceExt::name_any)
        .collect();
    let every = ["default", "kube-node-lease", "kube-public", "kube-system"];
    expect(
        "the namespaces of every cluster",
        every.iter().all(|n| names.contains(&n.to_string())),
        &names,
    );
    let space: Namespace = from_value(json!({"metadata": {"generateName": "clients-rust-"}}))?;
    let ns = spaces
        .create(&PostParams::default(), &space)
        .await?
        .name_any();
    expect(
        "a generated name",
        ns.len() == "clients-rust-".len() + 5,
        &ns,
    );

    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    life(&maps).await?;
    pages(&maps).await?;
    informer(&maps, watcher::Config::default()).await?;
    informer(&maps, watcher::Config::default().streaming_lists()).await?;
    workloads(&client, &ns).await?;
    let ending = spaces.delete(&ns, &DeleteParams::default()).await?;
    expect(
        "the namespace ends",
        ending
            .left()
            .is_some_and(|ns| ns.metadata.deletion_timestamp.is_some()),
        (),
    );
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    if let Err(e) = run().await {
        expect("no call fails", false, e);
    }
    let (passed, failed) = (
        PASSED.load(Ordering::Relaxed),
        FAILED.load(Ordering::Relaxed),
    );
    if failed > 0 {
        println!("{passed} checks passed, {failed} failed");
        return ExitCode::FAILURE;
    }
    println!("{passed} checks passed");
    ExitCode::SUCCESS
}
