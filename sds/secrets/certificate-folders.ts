import { resolve, sep } from 'node:path';

/**
 * Why a file that a resource names is not read; undefined: it is. It must be below one of `folders`
 * (absolute), which whoever runs this process has declared: who may write resources may not have
 * our own keys served. Links in these folders may lead elsewhere, as those of a mounted Secret do.
 */
export function refuseFile(path: string, folders: readonly string[]): string | undefined {
  const file = resolve(path);
  if (folders.some(folder => file.startsWith(folder.endsWith(sep) ? folder : folder + sep)))
    return undefined;
  return `${path} is not below ${folders.join(' or ')}: CERTIFICATE_FILES names the folders whose files are served`;
}
