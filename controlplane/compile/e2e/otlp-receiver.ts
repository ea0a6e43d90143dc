import { type ServiceDefinition, type sendUnaryData, status } from '@grpc/grpc-js';
import { serve } from '#grpc/serve.ts';

/** What gets spans and logs by OTLP over gRPC. */
export type OtlpReceiver = {
  /** `host:port`. */
  readonly address: string;
  /** The bytes of each message that has come, as it was sent. */
  readonly messages: Buffer[];
  stop(): Promise<void>;
};

const SERVICES = [
  'opentelemetry.proto.collector.logs.v1.LogsService',
  'opentelemetry.proto.collector.trace.v1.TraceService',
];

/** Starts one on a free port, which accepts all, rejects all, or answers nothing. */
export async function startOtlpReceiver(
  mode: 'accepts' | 'rejects' | 'hangs' = 'accepts',
): Promise<OtlpReceiver> {
  const messages: Buffer[] = [];
  const Export = ({ request }: { request: Buffer }, answer: sendUnaryData<Buffer>) => {
    messages.push(request);
    if (mode === 'accepts') answer(null, Buffer.alloc(0));
    if (mode === 'rejects') answer({ code: status.UNIMPLEMENTED });
  };
  const { port, stop } = await serve({
    host: '127.0.0.1',
    port: 0,
    services: Object.fromEntries(SERVICES.map(name => [name, { Export }])),
    definitions: Object.fromEntries(SERVICES.map(name => [name, definitionOf(name)])),
  });
  return { address: `127.0.0.1:${port}`, messages, stop: () => stop(0) };
}

const asItIs = (bytes: Buffer) => bytes;

function definitionOf(name: string): ServiceDefinition {
  return {
    Export: {
      path: `/${name}/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asItIs,
      requestDeserialize: asItIs,
      responseSerialize: asItIs,
      responseDeserialize: asItIs,
    },
  };
}
