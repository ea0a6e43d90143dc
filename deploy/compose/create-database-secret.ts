// Run `node deploy/compose/create-database-secret.ts FOLDER`. It creates the database's password
// once, and the files that hold it.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write('create-database-secret: want the folder to write to\n');
  process.exit(1);
}

/**
 * For PostgreSQL (POSTGRES_PASSWORD_FILE). PostgreSQL reads it only when it creates the database,
 * so it must not change.
 */
const passwordFile = join(folder, 'password');
if (!existsSync(passwordFile)) write(passwordFile, randomBytes(24).toString('hex'));
const password = readFileSync(passwordFile, 'utf8');
/** For the user service (node --env-file). */
write(
  join(folder, 'database.env'),
  `DATABASE_URL=postgres://user-service:${password}@postgres:5432/user-service\n`,
);

/**
 * Writes a file in one step. The containers that read it run as users of their own, and only they
 * have the folder.
 */
function write(file: string, content: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o444 });
  renameSync(draft, file);
}
