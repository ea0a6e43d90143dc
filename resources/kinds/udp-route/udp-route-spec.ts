import * as z from 'zod';
import { type ConnectionRule, connectionRules } from '../gateway-api/connection-rule.ts';
import { routeShape } from '../gateway-api/parent-ref.ts';

export const udpRouteSchema = z.object({ ...routeShape, rules: connectionRules });

export type UdpRouteSpec = z.output<typeof udpRouteSchema>;
export type UdpRouteRule = ConnectionRule;
