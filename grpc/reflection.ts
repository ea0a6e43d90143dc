import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ServerDuplexStream, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { type DescriptorFile, type Descriptors, loadDescriptors } from '#protos/descriptors.ts';

/** The two names of one service. Older clients know only the second. */
export const REFLECTION_SERVICES = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const;

export type ReflectionRequest = {
  readonly host: string;
  /** The member of the oneof that is set. */
  readonly message_request?: string;
  readonly file_by_filename: string;
  readonly file_containing_symbol: string;
  readonly file_containing_extension: {
    readonly containing_type: string;
    readonly extension_number: number;
  };
  readonly all_extension_numbers_of_type: string;
};

/**
 * Returns handlers of gRPC reflection for a server with those services. Source: grpc.reflection.v1,
 * ServerReflection.
 */
export function reflectionHandlers(services: readonly string[]): UntypedServiceImplementation {
  return {
    ServerReflectionInfo: (call: ServerDuplexStream<ReflectionRequest, object>) => {
      // It is a Duplex of node:stream, which its type in grpc-js does not say.
      const stream = call as unknown as Duplex;
      const answers = async function* (requests: AsyncIterable<ReflectionRequest>) {
        for await (const request of requests) yield answerReflection(services, request);
      };
      pipeline(stream, answers, stream).catch((error: Error) => stream.destroy(error));
    },
  };
}

/**
 * Returns the ServerReflectionResponse to one request. An unknown name is an error inside of it,
 * and the stream goes on.
 */
export function answerReflection(services: readonly string[], request: ReflectionRequest): object {
  return { valid_host: request.host, original_request: request, ...answer(services, request) };
}

function answer(services: readonly string[], request: ReflectionRequest): object {
  const descriptors = loadDescriptors();
  switch (request.message_request) {
    case 'list_services':
      return { list_services_response: { service: services.map(name => ({ name })) } };
    case 'file_by_filename':
      return answerFile(descriptors, descriptors.files.get(request.file_by_filename));
    case 'file_containing_symbol':
      return answerFile(descriptors, descriptors.symbols.get(request.file_containing_symbol));
    case 'file_containing_extension': {
      const { containing_type: type, extension_number: number } = request.file_containing_extension;
      return answerFile(descriptors, descriptors.extensions.get(type)?.get(number));
    }
    case 'all_extension_numbers_of_type':
      return answerExtensionNumbers(descriptors, request.all_extension_numbers_of_type);
    default:
      return errorResponse(status.INVALID_ARGUMENT, 'no message_request');
  }
}

function answerFile(descriptors: Descriptors, file: DescriptorFile | undefined): object {
  if (file === undefined) return errorResponse(status.NOT_FOUND, 'not found');
  const files = [...withImports(descriptors, file, new Set())];
  return { file_descriptor_response: { file_descriptor_proto: files.map(({ bytes }) => bytes) } };
}

/** Lists `file` first, then all that it imports, each once. */
function withImports(
  descriptors: Descriptors,
  file: DescriptorFile,
  found: Set<DescriptorFile>,
): Set<DescriptorFile> {
  if (found.has(file)) return found;
  found.add(file);
  for (const name of file.imports) {
    const imported = descriptors.files.get(name);
    if (imported !== undefined) withImports(descriptors, imported, found);
  }
  return found;
}

function answerExtensionNumbers(descriptors: Descriptors, type: string): object {
  if (!descriptors.symbols.has(type)) return errorResponse(status.NOT_FOUND, 'not found');
  const numbers = [...(descriptors.extensions.get(type)?.keys() ?? [])];
  return { all_extension_numbers_response: { base_type_name: type, extension_number: numbers } };
}

function errorResponse(code: status, message: string): object {
  return { error_response: { error_code: code, error_message: message } };
}
