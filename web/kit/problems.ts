import { RpcError } from '#shared/rpc/rpc-error.ts';
import { m } from '#app/i18n/messages.ts';

/** An error for the user: a sentence, and the code if there is one. */
export interface Problem {
  message: string;
  code: string | null;
  /** Link to details or to a way to fix it. */
  link?: { label: string; href: string };
}

/** Links by the reason that the gateway (web/gateway/server/fault-handler.ts) or the bridge reports. */
const LINK_BY_REASON: Partial<Record<string, (details: Record<string, unknown>) => Problem['link']>> = {
  'read-only': () => ({ label: m.kit_about_read_only_link(), href: '/outdated' }),
  'private-place': ({ setting }) =>
    setting === 'browser.allow' ? { label: m.kit_private_place_link(), href: '/settings#browser' } : undefined,
  'storage-full': () => ({ label: m.kit_about_no_room_link(), href: '/devices#storage' }),
};

/** Describes anything that was thrown. `doing`, a message of the app's words, completes "Couldn’t …". */
export function toProblem(error: unknown, doing: string): Problem {
  if (error instanceof RpcError) {
    const { details = {} } = error.extra;
    if (details['reason'] === 'needs-bridge') return { message: m.kit_could_not_needs_computer({ doing }), code: error.code };
    const link = LINK_BY_REASON[String(details['reason'])]?.(details);
    return { message: m.kit_could_not({ doing, why: lowerFirst(toSentence(error.message)) }), code: error.code, ...(link ? { link } : {}) };
  }
  if (error instanceof Error && error.name === 'ConnectionClosed') {
    return { message: m.kit_could_not_connection_lost({ doing }), code: null };
  }
  if (error instanceof DOMException && error.name === 'QuotaExceededError') {
    return { message: m.kit_could_not_no_room({ doing }), code: error.name };
  }
  return { message: m.kit_could_not({ doing, why: error instanceof Error ? error.message : String(error) }), code: null };
}

/** An error's text, or a sentence if it is empty or only a code. */
export function toSentence(message: string): string {
  return /^[A-Z_]*$/.test(message) ? m.kit_unexpected() : message;
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Whether the call failed because there is no connection, not because the gateway refused. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConnectionClosed';
}
