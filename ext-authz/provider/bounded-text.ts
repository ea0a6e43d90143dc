/** The longest answer of a provider (docs/reference/limits.md). */
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * Reads the text of a body. Returns `too_large` as soon as more than 1 MiB was received, counted
 * after decompression, and does not read the rest. Rejects with a TypeError when it is not UTF-8
 * (RFC 8259 section 8.1), and when it breaks off.
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
