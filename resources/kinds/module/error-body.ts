/**
 * Operators without a value on a Mapping. There Envoy writes values into headers first, and these
 * may hold line breaks, such as a decoded `%0a`. At that point Envoy does not know the former body.
 */
const SILENT =
  /^%(?:DYNAMIC_METADATA|FILTER_STATE|LOCAL_REPLY_BODY|METADATA|QUERY_PARAMS?|UPSTREAM_FILTER_STATE)\b/;

export function isSilentOnMapping(token: string): boolean {
  return SILENT.test(token);
}

/** Returns the content type of an override's body. */
export function contentTypeOf({
  content_type,
  json_format,
}: {
  readonly content_type?: string;
  readonly json_format?: object;
}): string {
  return content_type ?? (json_format === undefined ? 'text/plain' : 'application/json');
}

/** Whether a browser may run what stands in such a body. */
export function isMarkup(contentType: string): boolean {
  return /html|xml|svg/i.test(contentType);
}
