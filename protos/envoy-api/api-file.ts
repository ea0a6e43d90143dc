import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type protobuf from 'protobufjs';
import { ROOT } from '#files/places.ts';
import { ENVOY_FILES, ENVOY_VERSION } from './envoy-files.ts';

/** One .proto file, ready to be added to a root. */
export type ApiFile = {
  readonly package: string;
  /** The files that declare the types of its messages and services. */
  readonly uses: readonly string[];
  /** Its top-level declarations, as protobufjs reads them. */
  readonly nested: Readonly<Record<string, protobuf.AnyNestedObject>>;
  /** Its FileDescriptorProto in base64, for gRPC reflection. */
  readonly descriptor: string;
};

/** Files by name. */
export type Api = Readonly<Record<string, ApiFile>>;

/** Where the generated API of our Envoy is kept. */
export const API_PATH = join(ROOT, 'protos', 'envoy-api', `${ENVOY_VERSION}.json`);

/**
 * Returns the generated API, or undefined when there is none or it lacks a file of `ENVOY_FILES`.
 * The package has it compressed, as `<path>.gz`.
 */
export function readApi(path: string = API_PATH): Api | undefined {
  try {
    const packed = `${path}.gz`;
    const text = existsSync(packed) ? gunzipSync(readFileSync(packed)) : readFileSync(path);
    const api = JSON.parse(text.toString('utf8')) as Api;
    return ENVOY_FILES.every(file => Object.hasOwn(api, file)) ? api : undefined;
  } catch {
    return undefined;
  }
}
