/** The part of Eleventy that is used here. The package brings no types. */
declare module '@11ty/eleventy' {
  export class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { readonly configPath: string; readonly quietMode: boolean },
    );
    init(): Promise<void>;
    write(): Promise<void>;
    watch(): Promise<void>;
  }
}
