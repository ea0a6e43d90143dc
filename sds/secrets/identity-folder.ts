import { readTlsFiles } from '#certificates/tls-files.ts';
import { writeTlsFolder } from '#certificates/write-tls-folder.ts';
import type { IdentityTarget } from './identity-target.ts';

/**
 * Keeps an identity in a folder as `tls.crt`, `tls.key` and `ca.crt`. Only this process writes
 * there.
 */
export function identityFolder(folder: string): IdentityTarget {
  return {
    place: folder,
    async read() {
      const files = readTlsFiles(folder);
      return 'error' in files ? undefined : { material: files.material, mark: '' };
    },
    async write(material) {
      writeTlsFolder(folder, material);
      return true;
    },
  };
}
