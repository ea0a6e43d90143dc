import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';

export type WheelOptions = {
  readonly project: string;
  /** SHA-256 of the wheel, in hex. */
  readonly hash: string;
  /** A mirror of PyPI in PIP_INDEX_URL is used. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

const PYPI = 'https://pypi.org/simple';
const MOST_BYTES = 128 * 1024 * 1024;

/**
 * Fetches a wheel from PyPI, for machines without pip. Sources: PEP 503, PEP 427.
 * @throws an Error that says why there is none with this hash, without the index's address, which
 * may hold a password
 */
export async function fetchWheel({ env, hash, project }: WheelOptions): Promise<Buffer> {
  const index = (env.PIP_INDEX_URL || PYPI).replace(/\/*$/, `/${project}/`);
  const page = (await get(index)).toString('utf8');
  const links = [...page.matchAll(/href="([^"#]+)#sha256=([0-9a-f]{64})"/g)];
  const [, link] = links.find(([, , sum]) => sum === hash) ?? [];
  if (link === undefined) throw new Error(`its index has no wheel with the hash ${hash}`);
  const wheel = await get(new URL(link.replaceAll('&amp;', '&'), index).href);
  if (createHash('sha256').update(wheel).digest('hex') !== hash)
    throw new Error('the wheel has another hash than it should');
  return wheel;
}

async function get(url: string): Promise<Buffer> {
  const answer = await fetch(url).catch(error => {
    throw new Error(`it cannot be reached (${error?.cause?.code ?? 'its address is malformed'})`);
  });
  if (!answer.ok || answer.body === null) throw new Error(`it answers ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`it sends more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns a file of a wheel, which is a zip file. Source: PKWARE's APPNOTE.TXT, 4.3.7, 4.3.12 and
 * 4.3.16.
 * @throws an Error when it is not among the files
 */
export function fileInWheel(wheel: Buffer, name: string): Buffer {
  const end = wheel.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = wheel.readUInt32LE(end + 16);
  for (let left = wheel.readUInt16LE(end + 10); left > 0; left--) {
    const length = wheel.readUInt16LE(at + 28);
    if (wheel.toString('utf8', at + 46, at + 46 + length) === name) return unpacked(wheel, at);
    at += 46 + length + wheel.readUInt16LE(at + 30) + wheel.readUInt16LE(at + 32);
  }
  throw new Error(`the wheel has no ${name}`);
}

/** `entry` is the place of the file's entry in the central directory. */
function unpacked(wheel: Buffer, entry: number): Buffer {
  const header = wheel.readUInt32LE(entry + 42);
  const begin = header + 30 + wheel.readUInt16LE(header + 26) + wheel.readUInt16LE(header + 28);
  const packed = wheel.subarray(begin, begin + wheel.readUInt32LE(entry + 20));
  return wheel.readUInt16LE(entry + 10) === 0 ? packed : inflateRawSync(packed);
}
