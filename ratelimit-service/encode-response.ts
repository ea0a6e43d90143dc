import { message, number, text } from '#protos/wire-fields.ts';
import { WIRE, WireWriter } from '#protos/wire-writer.ts';
import type { DescriptorStatus, HeaderValue, RateLimitResponse, Struct } from './wire.ts';

type Value = Struct['fields'][string];

/**
 * An `envoy.service.ratelimit.v3.RateLimitResponse` on the wire. Source:
 * envoy/service/ratelimit/v3/rls.proto.
 */
export function encodeResponse(response: RateLimitResponse): Uint8Array {
  const writer = new WireWriter();
  number(writer, 1, response.overall_code);
  for (const status of response.statuses) message(writer, 2, status, writeStatus);
  for (const header of response.response_headers_to_add) message(writer, 3, header, writeHeader);
  for (const header of response.request_headers_to_add) message(writer, 4, header, writeHeader);
  if (response.raw_body !== null) {
    writer.tag(5, WIRE.lengthDelimited);
    writer.bytes(response.raw_body);
  }
  if (response.dynamic_metadata !== null)
    message(writer, 6, response.dynamic_metadata, writeStruct);
  return writer.copy();
}

function writeStatus(writer: WireWriter, status: DescriptorStatus): void {
  const { code, current_limit, limit_remaining, duration_until_reset } = status;
  number(writer, 1, code);
  if (current_limit !== undefined) message(writer, 2, current_limit, writeLimit);
  if (limit_remaining !== undefined) number(writer, 3, limit_remaining);
  if (duration_until_reset !== undefined) message(writer, 4, duration_until_reset, writeDuration);
}

function writeLimit(
  writer: WireWriter,
  limit: NonNullable<DescriptorStatus['current_limit']>,
): void {
  number(writer, 1, limit.requests_per_unit);
  number(writer, 2, limit.unit);
  text(writer, 3, limit.name);
}

/** Source: google/protobuf/duration.proto. */
function writeDuration(
  writer: WireWriter,
  { seconds, nanos }: NonNullable<DescriptorStatus['duration_until_reset']>,
): void {
  number(writer, 1, seconds);
  number(writer, 2, nanos);
}

/** Source: envoy/config/core/v3/base.proto, HeaderValue. */
function writeHeader(writer: WireWriter, { key, value }: HeaderValue): void {
  text(writer, 1, key);
  text(writer, 2, value);
}

/** Source: google/protobuf/struct.proto. */
function writeStruct(writer: WireWriter, { fields }: Struct): void {
  for (const field of Object.entries(fields)) message(writer, 1, field, writeField);
}

function writeField(writer: WireWriter, [key, value]: [string, Value]): void {
  text(writer, 1, key);
  message(writer, 2, value, writeValue);
}

function writeValue(writer: WireWriter, value: Value): void {
  if ('string_value' in value) text(writer, 3, value.string_value);
  else {
    writer.tag(2, WIRE.fixed64);
    writer.double(value.number_value);
  }
}
