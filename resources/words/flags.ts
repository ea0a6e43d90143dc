import * as z from 'zod';

export const falseByDefault = z.boolean().default(false);
export const trueByDefault = z.boolean().default(true);
