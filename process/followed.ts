/** Hears that a control plane is connected, is away, or is not followed any more. */
export type Turned = (from: object, state: 'here' | 'away' | 'gone') => void;

/** The control plane that a service is given. */
export const FOLLOWED: object = {};
