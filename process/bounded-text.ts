/**
 * Reads the text of a body. Returns `too_large` as soon as more than `most` bytes were received,
 * counted after decompression, and does not read the rest. Rejects with a TypeError when it is not
 * UTF-8 (RFC 8259 section 8.1), and when it breaks off.
 */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<string | 'too_large'> {
  if (body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let text = '';
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) return 'too_large';
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
