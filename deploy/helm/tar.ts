const BLOCK = 512;
const MODE = 0o644;

/**
 * Returns an archive of these files, the same bytes for the same files. Source: POSIX, the ustar
 * format of pax. Throws an Error when a path has more than 100 bytes.
 */
export function tar(files: readonly (readonly [path: string, text: string])[]): Buffer {
  const entries = files.flatMap(([path, text]) => {
    const content = Buffer.from(text);
    return [header(path, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]);
}

function header(path: string, size: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for an archive`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  block.write(path, 0);
  block.write(octal(MODE, 7), 100);
  for (const owner of [108, 116]) block.write(octal(0, 7), owner);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  // The checksum counts its own field as spaces.
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\u0000 `, 148);
  return block;
}
