import type { GoValue } from './go-type.ts';

/**
 * The tree of a parsed template. Each `pos` is where the node's text begins, in UTF-16 units from
 * 0.
 */
type At<Kind extends string> = { readonly kind: Kind; readonly pos: number };

export type List = { readonly nodes: readonly Node[] };

export type TextNode = At<'text'> & { readonly text: string };
export type ActionNode = At<'action'> & { readonly pipe: Pipe };
export type BranchNode = At<'if' | 'with' | 'range'> & {
  readonly pipe: Pipe;
  readonly list: List;
  readonly elseList: List | undefined;
};
export type TemplateNode = At<'template'> & {
  readonly name: string;
  readonly pipe: Pipe | undefined;
};
export type JumpNode = At<'break' | 'continue'>;

/** What stands in a list. */
export type Node = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;

export type Pipe = At<'pipe'> & {
  readonly isAssign: boolean;
  readonly declared: readonly Variable[];
  readonly commands: readonly Command[];
};
export type Command = At<'command'> & { readonly args: readonly [Operand, ...Operand[]] };

/** `names` are the variable's name and the fields after it. */
export type Variable = At<'variable'> & { readonly names: readonly [string, ...string[]] };
export type Field = At<'field'> & { readonly names: readonly string[] };
export type Chain = At<'chain'> & { readonly node: Operand; readonly names: readonly string[] };
export type Identifier = At<'identifier'> & { readonly name: string };
export type Dot = At<'dot'>;
export type Nil = At<'nil'>;
export type Bool = At<'bool'> & { readonly value: boolean };
export type NumberNode = At<'number'> & {
  readonly text: string;
  readonly value: GoValue | undefined;
  readonly integer: bigint | undefined;
};
export type StringNode = At<'string'> & { readonly quoted: string; readonly text: string };

/** What stands in a command. */
export type Operand =
  | Variable
  | Field
  | Chain
  | Identifier
  | Dot
  | Nil
  | Bool
  | NumberNode
  | StringNode
  | Pipe;

export type AnyNode = Node | Operand | Command;
