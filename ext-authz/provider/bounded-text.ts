/** No answer of a provider may be longer (docs/reference/limits.md). */
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * The text of a body, or `too_large` as soon as more than 1 MiB of it came, counted after
 * decompression; the rest is not read. Rejects with a TypeError when it is not UTF-8 (RFC 8259
 * section 8.1), and when it breaks off.
 */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
): Promise<string | 'too_large'> {
  if (body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let text = '';
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) return 'too_large';
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
