import type { XdsResource } from '#xds/snapshot.ts';
import { type ContentSources, followContent } from './follow-content.ts';
import { type CertificateFacts, checkContent, factsOf, secretResource } from './secret-content.ts';
import type { ServedSecret } from './served-secret.ts';

export type SlotOptions = ContentSources & {
  readonly versionKey: Uint8Array;
  /** The resource of the slot has changed. */
  onChange(): void;
  /** What came cannot be sent; what was sent before stays. Once for each reason. */
  onRefused(name: string, reason: string): void;
};

/** One served secret: what it is to be, and the last content of it that may be sent. */
export class SecretSlot {
  readonly #options: SlotOptions;
  #served: ServedSecret;
  #resource: XdsResource | undefined;
  #facts: CertificateFacts | undefined;
  #problem: string | undefined;
  #end: () => void = () => {};

  constructor(served: ServedSecret, options: SlotOptions) {
    this.#options = options;
    this.#served = served;
    this.#follow();
  }

  /** Another definition of the same name. What is sent stays until the new content has come and may be sent. */
  replace(served: ServedSecret): void {
    const sameContent = JSON.stringify(served.content) === JSON.stringify(this.#served.content);
    this.#served = served;
    if (!sameContent) this.#follow();
    else this.#options.onChange();
  }

  get served(): ServedSecret {
    return this.#served;
  }

  get resource(): XdsResource | undefined {
    return this.#resource;
  }

  get facts(): CertificateFacts | undefined {
    return this.#facts;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  close(): void {
    this.#end();
  }

  #follow(): void {
    this.#end();
    const { clock, versionKey, onChange } = this.#options;
    const { name, content } = this.#served;
    this.#end = followContent(content, this.#options, {
      onContent: next => {
        const wrong = checkContent(next, clock.now());
        if (wrong !== undefined) return this.#refuse(wrong);
        this.#problem = undefined;
        this.#facts = factsOf(next);
        const resource = secretResource(name, next, versionKey);
        if (resource.version === this.#resource?.version) return;
        this.#resource = resource;
        onChange();
      },
      onTrouble: reason => this.#refuse(reason),
    });
  }

  #refuse(reason: string): void {
    if (reason !== this.#problem) this.#options.onRefused(this.#served.name, reason);
    this.#problem = reason;
  }
}
