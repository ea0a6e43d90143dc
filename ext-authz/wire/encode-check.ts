import type { EncodedResponse } from '#ext-authz/http/filter-decision.ts';
import { message, number, text } from '#protos/wire-fields.ts';
import { WireWriter } from '#protos/wire-writer.ts';
import type { CheckResponse, HeaderOption } from './check-response.ts';

type Ok = NonNullable<CheckResponse['ok_response']>;
/** An access token is about 1,000 bytes. */
const LENGTH = 2_048;

type Denied = NonNullable<CheckResponse['denied_response']>;

/** Encodes an `envoy.service.auth.v3.CheckResponse` (envoy/service/auth/v3/external_auth.proto). */
export function encodeCheck(response: CheckResponse | EncodedResponse): Uint8Array {
  if ('encoded' in response) return response.encoded;
  const { denied_response, dynamic_metadata, ok_response, status } = response;
  const writer = new WireWriter(LENGTH);
  message(writer, 1, status, writeStatus);
  if (denied_response !== undefined) message(writer, 2, denied_response, writeDenied);
  if (ok_response !== undefined) message(writer, 3, ok_response, writeOk);
  if (dynamic_metadata !== undefined) message(writer, 4, dynamic_metadata, writeStruct);
  return writer.view();
}

/** Writes a google.protobuf.Struct (google/protobuf/struct.proto) of texts. */
function writeStruct(writer: WireWriter, fields: Readonly<Record<string, string>>): void {
  for (const field of Object.entries(fields)) message(writer, 1, field, writeField);
}

function writeField(writer: WireWriter, [name, value]: readonly [string, string]): void {
  text(writer, 1, name);
  message(writer, 2, value, writeText);
}

function writeText(writer: WireWriter, value: string): void {
  text(writer, 3, value);
}

function writeDenied(writer: WireWriter, { body, headers, status }: Denied): void {
  message(writer, 1, status, writeStatus);
  for (const header of headers) message(writer, 2, header, writeHeader);
  text(writer, 3, body);
}

function writeOk(writer: WireWriter, response: Ok): void {
  for (const header of response.headers) message(writer, 2, header, writeHeader);
  for (const name of response.headers_to_remove) text(writer, 5, name);
  for (const header of response.response_headers_to_add) message(writer, 6, header, writeHeader);
}

/** Writes google.rpc.Status and envoy.type.v3.HttpStatus alike. */
function writeStatus(writer: WireWriter, { code }: { readonly code: number }): void {
  number(writer, 1, code);
}

/** Writes a HeaderValueOption with its HeaderValue (envoy/config/core/v3/base.proto). */
function writeHeader(writer: WireWriter, { append_action, header }: HeaderOption): void {
  message(writer, 1, header, writeHeaderValue);
  number(writer, 3, append_action);
}

function writeHeaderValue(writer: WireWriter, { key, value }: HeaderOption['header']): void {
  text(writer, 1, key);
  text(writer, 2, value);
}
