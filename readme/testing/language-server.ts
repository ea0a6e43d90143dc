import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** What an editor underlines. Lines count from 1. */
export type Underlined = { readonly line: number; readonly text: string; readonly message: string };

type Diagnostic = {
  readonly range: { readonly start: Place; readonly end: Place };
  readonly message: string;
};
type Place = { readonly line: number; readonly character: number };
type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
};

/** It loads nothing from the net. */
const SETTINGS = {
  yaml: {
    validate: true,
    completion: true,
    hover: true,
    schemaStore: { enable: false },
    kubernetesCRDStore: { enable: false },
  },
};

/** Answers the sections that the server asks for, in their order. */
function configured(params: unknown): readonly object[] {
  const { items } = params as { items: readonly { section: string }[] };
  return items.map(({ section }) => (section === 'yaml' ? SETTINGS.yaml : {}));
}

/**
 * The YAML language server, in a process of its own, as an editor speaks to it. See the Language
 * Server Protocol 3.17.
 */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly #underlined = new Map<string, (found: readonly Diagnostic[]) => void>();
  #rest = Buffer.alloc(0);
  #asked = 0;

  private constructor() {
    const main = createRequire(import.meta.url).resolve(
      'yaml-language-server/bin/yaml-language-server',
    );
    this.#process = spawn(process.execPath, [main, '--stdio'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  static async start(root: string): Promise<LanguageServer> {
    const server = new LanguageServer();
    const capabilities = { textDocument: { publishDiagnostics: {}, completion: {}, hover: {} } };
    const rootUri = pathToFileURL(root).href;
    await server.#ask('initialize', { processId: process.pid, rootUri, capabilities });
    server.#tell('initialized', {});
    server.#tell('workspace/didChangeConfiguration', { settings: SETTINGS });
    return server;
  }

  /** Opens a text as this file, which need not exist, and returns what is underlined. */
  async underlined(path: string, text: string): Promise<readonly Underlined[]> {
    const uri = pathToFileURL(path).href;
    const found = new Promise<readonly Diagnostic[]>(resolve => {
      this.#underlined.set(uri, diagnostics => diagnostics.length > 0 && resolve(diagnostics));
    });
    this.#open(uri, text);
    const lines = text.split('\n');
    return (await found).map(({ message, range: { start, end } }) => ({
      line: start.line + 1,
      text: lines[start.line]?.slice(start.character, end.character) ?? '',
      message,
    }));
  }

  /** Returns what the editor offers at the end of this text. */
  async offered(path: string, text: string): Promise<readonly string[]> {
    const uri = pathToFileURL(path).href;
    this.#open(uri, text);
    const lines = text.split('\n');
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const answer = await this.#ask('textDocument/completion', { textDocument: { uri }, position });
    return (answer as { items: { label: string }[] }).items.map(({ label }) => label);
  }

  /** Returns what the editor shows for the word that ends this text. */
  async shown(path: string, text: string): Promise<string> {
    const uri = pathToFileURL(path).href;
    this.#open(uri, `${text}: x\n`);
    const lines = text.split('\n');
    const position = { line: lines.length - 1, character: (lines.at(-1)?.length ?? 1) - 1 };
    const answer = await this.#ask('textDocument/hover', { textDocument: { uri }, position });
    return JSON.stringify(answer);
  }

  async stop(): Promise<void> {
    const ended = new Promise(resolve => this.#process.once('exit', resolve));
    this.#process.kill();
    await ended;
  }

  #open(uri: string, text: string): void {
    const textDocument = { uri, languageId: 'yaml', version: 1, text };
    this.#tell('textDocument/didOpen', { textDocument });
  }

  #ask(method: string, params: object): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise(resolve => this.#answers.set(id, resolve));
    this.#write({ id, method, params });
    return answer;
  }

  #tell(method: string, params: object): void {
    this.#write({ method, params });
  }

  #write(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.#process.stdin?.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#process.stdin?.write(body);
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#rest.indexOf('\r\n\r\n');
      if (head < 0) return;
      const [, length = '0'] =
        /Content-Length: (\d+)/i.exec(this.#rest.toString('latin1', 0, head)) ?? [];
      const end = head + 4 + Number(length);
      if (this.#rest.length < end) return;
      this.#read(JSON.parse(this.#rest.toString('utf8', head + 4, end)));
      this.#rest = this.#rest.subarray(end);
    }
  }

  #read({ id, method, params, result }: Message): void {
    if (method === 'textDocument/publishDiagnostics') {
      const { diagnostics, uri } = params as { uri: string; diagnostics: Diagnostic[] };
      this.#underlined.get(uri)?.(diagnostics);
    } else if (method === 'workspace/configuration')
      this.#write({ id, result: configured(params) });
    else if (method !== undefined && id !== undefined) this.#write({ id, result: null });
    else if (id !== undefined) this.#answers.get(id)?.(result);
  }
}
