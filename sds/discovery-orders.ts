import type { OrderTaker } from '#process/orders.ts';
import type { Secrets } from './secrets/secrets.ts';

/** Takes what operators ask of the discovery service: drains, and certificates to be replaced. */
export function discoveryOrders(drains: OrderTaker, { renew }: Pick<Secrets, 'renew'>): OrderTaker {
  return {
    ...drains,
    given: (name, order) =>
      'certificateRenewal' in order
        ? renew(name, order.certificateRenewal)
        : drains.given(name, order),
  };
}
