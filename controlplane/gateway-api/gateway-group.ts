export { gatewayGroup } from '#resources/words/gateway-group.ts';
