import { Pool, type QueryResult } from 'pg';
import { StoreUnavailable } from './store-unavailable.ts';
import type { UserStore } from './users.ts';

const TABLE_EXISTS = "SELECT to_regclass('users') IS NOT NULL AS found";
/**
 * IF NOT EXISTS alone fails when two instances create at once (pg_type_typname_nsp_index), so they
 * take turns. Statements sent together are one transaction, and the lock ends with it. The number
 * only has to be the same everywhere.
 */
const CREATE_TABLE = `SELECT pg_advisory_xact_lock(5000180003);
CREATE TABLE IF NOT EXISTS users (
  username text COLLATE "C" PRIMARY KEY,
  fullname text NOT NULL,
  uuid text NOT NULL UNIQUE,
  password_hash text NOT NULL
)`;
const FIND = 'SELECT fullname, uuid, password_hash FROM users WHERE username = $1';
const INSERT =
  'INSERT INTO users (username, fullname, uuid, password_hash) VALUES ($1, $2, $3, $4) ON CONFLICT (username) DO NOTHING';

/** A request waits at most the sum of both for the store. */
const CONNECT_TIMEOUT_MS = 2000;
const QUERY_TIMEOUT_MS = 3000;
/** Eight instances stay well below PostgreSQL's default of 100 connections. */
const MAX_CONNECTIONS = 5;

type Row = { readonly fullname: string; readonly uuid: string; readonly password_hash: string };

/**
 * Opens the users in PostgreSQL. It connects on demand, and again after PostgreSQL was away. Every
 * call ends within five seconds. `onConnectionLost` hears of idle connections that break.
 */
export function postgresUserStore(
  url: string,
  onConnectionLost: (error: Error) => void,
): UserStore {
  const pool = new Pool({
    connectionString: url,
    application_name: 'user-service',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  });
  pool.on('error', onConnectionLost);

  const query = async <R extends object>(
    text: string,
    values?: string[],
  ): Promise<QueryResult<R>> => {
    try {
      return await pool.query<R>(text, values);
    } catch (error) {
      throw new StoreUnavailable('PostgreSQL cannot be used', { cause: error });
    }
  };

  return {
    createTable: async () => {
      // A role that may not create tables needs no right to, once the table is there.
      const { rows } = await query<{ readonly found: boolean }>(TABLE_EXISTS);
      if (rows[0]?.found !== true) await query(CREATE_TABLE);
    },
    find: async username => {
      const [row] = (await query<Row>(FIND, [username])).rows;
      return (
        row && { username, fullname: row.fullname, uuid: row.uuid, passwordHash: row.password_hash }
      );
    },
    insert: async ({ username, fullname, uuid, passwordHash }) =>
      (await query(INSERT, [username, fullname, uuid, passwordHash])).rowCount === 1,
    close: () => pool.end(),
  };
}
