/** The part of the certified provider that is used. It has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export type Grant = {
    addOIDCScope: (scope: string) => void;
    addResourceScope: (resource: string, scope: string) => void;
    rejectOIDCScope: (scope: string) => void;
    rejectResourceScope: (resource: string, scope: string) => void;
    readonly jti: string;
    save: () => Promise<string>;
  };
  export type Client = {
    readonly clientId: string;
    readonly clientName?: string;
    readonly grantTypes: readonly string[];
  };
  export type ResourceServer = { readonly scopes: ReadonlySet<string> };
  export type Context = {
    body: unknown;
    status: number;
    set: (headers: Readonly<Record<string, string>>) => void;
    readonly oidc: {
      readonly client: Client;
      readonly params: { readonly [name: string]: string | undefined };
      readonly provider: Provider;
      readonly result?: { readonly consent?: { readonly grantId?: string } };
      readonly session?: {
        readonly accountId: string;
        grantIdFor: (clientId: string) => string | undefined;
      };
      entity: (name: string, value: unknown) => void;
    };
  };
  export type Interaction = {
    readonly uid: string;
    readonly prompt: { readonly name: string };
    readonly params: { readonly client_id: string };
    readonly session?: { readonly accountId: string };
  };
  export class Provider {
    constructor(issuer: string, configuration: object);
    proxy: boolean;
    readonly Grant: {
      new (of: { accountId: string | undefined; clientId: string }): Grant;
      find: (id: string) => Promise<Grant | undefined>;
    };
    readonly AccessToken: new (
      of: object,
    ) => { scope?: string; readonly expiration: number; save: () => Promise<string> };
    readonly ResourceServer: new (
      identifier: string,
      data: object,
    ) => ResourceServer;
    readonly Client: { find: (id: string) => Promise<Client | undefined> };
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>;
    registerGrantType(
      name: string,
      handler: (context: Context) => Promise<void>,
      parameters: readonly string[],
    ): void;
    on(event: string, listener: (...args: readonly unknown[]) => void): void;
  }
  export const errors: { readonly InvalidGrant: new (detail: string) => Error };
}
