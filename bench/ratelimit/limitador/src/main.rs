//! Limitador, the library, behind Envoy's rate limit service on tonic, with one limit on each value of the label `n`: a peer that counts in memory, for
//! `bench/ghz.ts`. (Limitador's own server is made of the same two, and is in no registry.) The only argument is the port of the loopback.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use limitador::limit::{Context, Limit};
use limitador::RateLimiter;
use tonic::body::BoxBody;
use tonic::codegen::{http, Body, Service, StdError};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};

/// Source: envoy/service/ratelimit/v3/rls.proto and envoy/extensions/common/ratelimit/v3/ratelimit.proto; what is read of them.
#[derive(Clone, PartialEq, prost::Message)]
struct RateLimitRequest {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(message, repeated, tag = "2")]
    descriptors: Vec<Descriptor>,
    #[prost(uint32, tag = "3")]
    hits_addend: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RateLimitResponse {
    #[prost(int32, tag = "1")]
    overall_code: i32,
}

const OK: i32 = 1;
const OVER_LIMIT: i32 = 2;
const DOMAIN: &str = "bench";
/// Counters that the library keeps at most.
const COUNTERS: u64 = 500_000;
const RATE: u64 = 4_000_000_000;

type Later<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

#[derive(Clone)]
struct RateLimitService(Arc<RateLimiter>);

impl RateLimitService {
    fn decide(&self, request: RateLimitRequest) -> Result<RateLimitResponse, Status> {
        let mut context = Context::default();
        context.list_binding("descriptors".to_string(), request.descriptors.into_iter().map(labels).collect());
        let hits = u64::from(request.hits_addend.max(1));
        let result = self
            .0
            .check_rate_limited_and_update(&request.domain.into(), &context, hits)
            .map_err(|error| Status::internal(error.to_string()))?;
        Ok(RateLimitResponse { overall_code: if result.limited { OVER_LIMIT } else { OK } })
    }
}

fn labels(descriptor: Descriptor) -> HashMap<String, String> {
    descriptor.entries.into_iter().map(|entry| (entry.key, entry.value)).collect()
}

impl UnaryService<RateLimitRequest> for RateLimitService {
    type Response = RateLimitResponse;
    type Future = Later<Response<RateLimitResponse>, Status>;

    fn call(&mut self, request: Request<RateLimitRequest>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { service.decide(request.into_inner()).map(Response::new) })
    }
}

impl<B> Service<http::Request<B>> for RateLimitService
where
    B: Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<BoxBody>;
    type Error = Infallible;
    type Future = Later<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move {
            let mut grpc = Grpc::new(tonic::codec::ProstCodec::default());
            Ok(grpc.unary(service, request).await)
        })
    }
}

impl NamedService for RateLimitService {
    const NAME: &'static str = "envoy.service.ratelimit.v3.RateLimitService";
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("the port is missing")?.parse()?;
    let limiter = RateLimiter::new(COUNTERS);
    limiter.add_limit(Limit::new(
        DOMAIN,
        RATE,
        60,
        vec!["descriptors[0].generic_key == 'limit-0'".try_into()?],
        vec!["descriptors[0].n".try_into()?],
    ));
    let service = RateLimitService(Arc::new(limiter));
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    tonic::transport::Server::builder().add_service(service).serve(address).await?;
    Ok(())
}
