import type { ServiceProcess } from './service-process.ts';

/** An empty store: how an instance is told to use it, and what lies in it. */
export type TestStore = {
  readonly environment: Readonly<Record<string, string>>;
  readonly passwordHashes: () => Promise<string[]>;
};

/** Two instances on one store, named after their variables. */
export type Services = { readonly one: ServiceProcess; readonly two: ServiceProcess };

/** A user to create. */
export const ada = { fullname: 'Ada Lovelace', password: 'correct horse battery staple' };
