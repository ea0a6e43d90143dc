import { framed, PREFIX_BYTES } from '#grpc/http2/grpc-blocks.ts';
import { answerReflection, REFLECTION_SERVICES, type ReflectionRequest } from '#grpc/reflection.ts';
import { serviceDefinition } from '#grpc/service.ts';

/** The longest message of a client. The names that clients ask for are short. */
const MAX_BYTES = 4 * 1_024;

/**
 * A streaming method, from the DATA of a request to that of its answer. An error that it throws
 * resets the stream.
 */
export type AnswerParts = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

/** Returns gRPC reflection of `services` by its paths. It is the only streaming method here. */
export function reflectionMethods(services: readonly string[]): ReadonlyMap<string, AnswerParts> {
  const answer = (request: ReflectionRequest) => answerReflection(services, request);
  return new Map(REFLECTION_SERVICES.map(service => reflectionMethod(service, answer)));
}

function reflectionMethod(
  service: string,
  answer: (request: ReflectionRequest) => object,
): readonly [string, AnswerParts] {
  const method = serviceDefinition(service).ServerReflectionInfo;
  if (method === undefined) throw new Error(`no method ServerReflectionInfo of ${service}`);
  const answers = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const message of messages(chunks))
      yield framed(method.responseSerialize(answer(method.requestDeserialize(message))));
  };
  return [method.path, answers];
}

/** Yields the messages of a stream. Throws for one that is compressed or longer than MAX_BYTES. */
async function* messages(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + rest.readUInt32BE(1);
      if (rest[0] !== 0 || end > MAX_BYTES)
        throw new Error('the message is compressed or too long');
      if (rest.length < end) break;
      yield rest.subarray(PREFIX_BYTES, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw new Error('the last message is cut off');
}
