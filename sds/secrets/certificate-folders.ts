import { resolve, sep } from 'node:path';

/**
 * Checks a file that a resource names. It must be below one of `folders` (absolute). The operator
 * of this process declares these folders. So an author of resources cannot have the gateway's own
 * keys served. Links in these folders may lead elsewhere, as those of a mounted Secret do.
 * @returns why the file is not read, or undefined when it is
 */
export function refuseFile(path: string, folders: readonly string[]): string | undefined {
  const file = resolve(path);
  if (folders.some(folder => file.startsWith(folder.endsWith(sep) ? folder : folder + sep)))
    return undefined;
  return `${path} is not below ${folders.join(' or ')}: CERTIFICATE_FILES names the folders whose files are served`;
}
