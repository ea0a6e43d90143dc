import type { Authority } from '#certificates/authority/authority.ts';
import { keepFresh } from '#certificates/authority/keep-fresh.ts';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import type { Acme } from '../acme/open-acme.ts';
import { type FileState, watchFile } from '../instances/watch-file.ts';
import { refuseFile } from './certificate-folders.ts';
import type { Clock } from './clock.ts';
import type { SecretContent } from './secret-content.ts';
import type { ServedContent } from './served-secret.ts';

/** Where contents come from. */
export type ContentSources = {
  readonly authority: Authority;
  readonly acme: Acme;
  readonly clock: Clock;
  /** Absolute paths of the folders whose files may be served. */
  readonly certificateFolders: readonly string[];
};

export type Followed = {
  /** Receives the present content, which is not checked yet. */
  onContent(content: SecretContent): void;
  /** Called when there is no content, with the reason. */
  onTrouble(reason: string): void;
  /** Receives what the operator should know of an order. Empty: nothing. */
  onNotes(notes: readonly string[]): void;
  /** See AcmeListener. */
  servedSince(): number | undefined;
  /** Receives what proves the name to an ACME authority over TLS. Undefined: nothing does. */
  onProof(pair: KeyPair | undefined): void;
};

/** Tells content that is elsewhere, and each later one, until the result is called. */
export function followContent(
  served: Exclude<ServedContent, SecretContent>,
  { acme, authority, clock, certificateFolders }: ContentSources,
  followed: Followed,
): () => void {
  const { onContent, onTrouble } = followed;
  const follow = (paths: readonly string[], onTexts: (texts: readonly string[]) => void) =>
    followFiles(paths, certificateFolders, onTexts, onTrouble);
  switch (served.kind) {
    case 'trusted ca file':
      return follow([served.ca], ([ca = '']) => onContent({ kind: 'trusted ca', ca }));
    case 'key pair files':
      return follow([served.certificate, served.key], ([certificate = '', key = '']) =>
        onContent({ kind: 'key pair', certificate, key }),
      );
    case 'acme':
      return acme.keep(served.settings, {
        ...followed,
        onPair: pair => onContent({ kind: 'key pair', ...pair }),
      });
    case 'issued': {
      const issued = keepFresh({
        ...clock,
        issue: () => authority.server(served.hosts),
        onIssued: pair => onContent({ kind: 'key pair', ...pair }),
        onTrouble,
      });
      return () => issued.close();
    }
  }
}

/** A pair is two files. When one has changed the other may follow in a moment. */
const SETTLE_MS = 30;

function followFiles(
  paths: readonly string[],
  folders: readonly string[],
  onTexts: (texts: readonly string[]) => void,
  onTrouble: (reason: string) => void,
): () => void {
  const rejected = paths.flatMap(path => refuseFile(path, folders) ?? []);
  if (rejected.length > 0) {
    onTrouble(rejected.join(', and '));
    return () => {};
  }
  const states = new Map<string, FileState>();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer = undefined;
    const troubles = paths.flatMap(path => troubleOf(path, states.get(path)));
    if (troubles.length > 0) return onTrouble(troubles.join(', and '));
    onTexts(paths.map(path => textOf(states.get(path))));
  };
  const ends = [...new Set(paths)].map(path =>
    watchFile(path, state => {
      states.set(path, state);
      if (!paths.every(each => states.has(each))) return;
      clearTimeout(timer);
      timer = setTimeout(tell, SETTLE_MS);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
  };
}

function textOf(state: FileState | undefined): string {
  return state?.kind === 'text' ? state.text : '';
}

function troubleOf(path: string, state: FileState | undefined): readonly string[] {
  if (state === undefined || state.kind === 'text') return [];
  return [
    state.kind === 'missing' ? `${path} is missing` : `${path} cannot be read: ${state.message}`,
  ];
}
