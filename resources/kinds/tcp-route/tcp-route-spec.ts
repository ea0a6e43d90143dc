import * as z from 'zod';
import { type ConnectionRule, connectionRules } from '../gateway-api/connection-rule.ts';
import { routeShape } from '../gateway-api/parent-ref.ts';

export const tcpRouteSchema = z.object({ ...routeShape, rules: connectionRules });

export type TcpRouteSpec = z.output<typeof tcpRouteSchema>;
export type TcpRouteRule = ConnectionRule;
