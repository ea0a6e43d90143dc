import {
  type ChannelCredentials,
  Client,
  credentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';
import { protobufCodec } from '#grpc/unary/protobuf-codec.ts';
import type { Message } from '#protos/decode-bytes.ts';

/** Asks one of our services what it knows. */
export type ServiceClient = {
  /** Rejects with an Error in plain words, within DEADLINE_MS. */
  call(method: string, request: object): Promise<Message>;
  close(): void;
};

const PACKAGE = 'gateway.service.v1';
const DEADLINE_MS = 3_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Connects at the first call. Without credentials it speaks plain text. */
export function serviceClient(
  service: string,
  at: HostPort,
  tls: ChannelCredentials | undefined,
): ServiceClient {
  let client: Client | undefined;
  const open = () =>
    new Client(formatHostPort(at), tls ?? credentials.createInsecure(), {
      'grpc.max_receive_message_length': MOST_BYTES,
      'grpc.enable_channelz': 0,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    });
  return {
    call: (method, request) =>
      new Promise((resolve, reject) => {
        client ??= open();
        const { decode, encode } = protobufCodec(
          `${PACKAGE}.${method}Response`,
          `${PACKAGE}.${method}Request`,
        );
        client.makeUnaryRequest<object, Message>(
          `/${PACKAGE}.${service}/${method}`,
          value => Buffer.from(encode(value)),
          bytes => decode(bytes) ?? {},
          request,
          { deadline: Date.now() + DEADLINE_MS },
          (error, message) => {
            if (message !== undefined && error === null) resolve(message);
            else reject(new Error(`${formatHostPort(at)}: ${reasonOf(error)}`));
          },
        );
      }),
    close: () => client?.close(),
  };
}

function reasonOf(error: ServiceError | null): string {
  switch (error?.code) {
    case status.DEADLINE_EXCEEDED:
      return 'it does not answer in time';
    case status.UNAVAILABLE:
      return 'it is not there, or its store is not';
    case status.UNIMPLEMENTED:
      return 'it is of an earlier version, which does not know this';
    default:
      return error?.details ?? 'it answers nothing';
  }
}
