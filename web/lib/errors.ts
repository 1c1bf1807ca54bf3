import { RpcError } from '#shared/rpc/errors.ts';

/** What went wrong, for a person: a sentence, and the code where there is one. */
export interface Problem {
  message: string;
  code: string | null;
  /** Where more is said, or something can be done. */
  link?: { label: string; href: string };
}

/** By the reason that the gateway gives (web/gateway/core/faults.ts). */
const LINKS: Partial<Record<string, Problem['link']>> = {
  'read-only': { label: 'What this means', href: '/outdated' },
  'storage-full': { label: 'Room in this browser', href: '/devices#storage' },
};

/** Describes anything that was thrown. `doing` completes "Could not …". */
export function problemOf(error: unknown, doing: string): Problem {
  if (error instanceof RpcError) {
    const link = LINKS[String(error.extra.details?.['reason'])];
    return { message: `Could not ${doing}: ${lowerFirst(error.message)}`, code: error.code, ...(link ? { link } : {}) };
  }
  if (error instanceof Error && error.name === 'ConnectionClosed') {
    return { message: `Could not ${doing}: the connection to the gateway was lost. It is made again by itself.`, code: null };
  }
  if (error instanceof DOMException && error.name === 'QuotaExceededError') {
    return {
      message: `Could not ${doing}: this browser has no room left for the app. Free some disk space, or delete chats.`,
      code: error.name,
    };
  }
  return { message: `Could not ${doing}: ${error instanceof Error ? error.message : String(error)}`, code: null };
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Whether the call failed because there is no connection, not because the gateway refused. */
export function isLost(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConnectionClosed';
}
