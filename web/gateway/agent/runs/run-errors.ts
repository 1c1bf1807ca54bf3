import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { readStoppedBudget } from '#shared/rpc/stopped-budget.ts';
import { ProviderError } from '../../providers/provider.ts';

/** Whether the request was refused because of its content or a limit; other failures are unrelated to the request. */
export const isRefusal = ({ code, cause }: RpcError): boolean =>
  code === 'RATE_LIMITED' || (cause instanceof ProviderError && cause.isRequestFault);

/** Whether the connection to the bridge was lost during the answer, as if the browser were closed. */
export const isDisconnected = ({ cause }: RpcError): boolean => cause instanceof ProviderError && cause.cutOff;

/** An error as it is stored in a reply, with the budget that has stopped it. */
export function toStoredError({ code, message, extra }: RpcError): NonNullable<HistoryMessage['error']> {
  const budget = readStoppedBudget(extra.details);
  return { code, message, ...(budget ? { budget } : {}) };
}
