import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of an authority and of what it has signed: a server at 127.0.0.1 and a client. */
export type Certificates = {
  readonly caFile: string;
  readonly ca: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
};

/** Makes a new authority and a certificate of 127.0.0.1 in `folder`. */
export function makeCertificates(folder: string, name = 'server'): Certificates {
  const file = (suffix: string) => join(folder, `${name}-${suffix}`);
  const [caFile, caKey, certFile, keyFile] = [
    file('ca.crt'),
    file('ca.key'),
    file('crt'),
    file('key'),
  ];
  const fresh = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  openssl([...fresh, '-keyout', caKey, '-out', caFile, '-subj', `/CN=${name} authority`]);
  openssl([
    ...fresh,
    ...['-CA', caFile, '-CAkey', caKey, '-keyout', keyFile, '-out', certFile],
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
  ]);
  const read = (path: string) => readFileSync(path, 'utf8');
  return { caFile, ca: read(caFile), certFile, keyFile, cert: read(certFile), key: read(keyFile) };
}

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
}
