import { toPrintable } from '#shared/printable.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { sha256 } from '#shared/sha256.ts';
import { removeComposedUrls } from '../../agent/trust/verbatim-urls.ts';
import type { ExecRecord } from '../../storage/vault-interface.ts';

/** Longer texts must be read in Perch: notifications show a few lines, and messages are skimmed. */
const MAX_SHOWN = { channel: { chars: 1500, lines: 40 }, device: { chars: 200, lines: 4 }, chat: { chars: 0, lines: 0 } } as const;
const OPEN_NOTE = 'Open Perch to see all of it and decide.';

/** An approval with the request of its command, if it is one. */
export interface ApprovalSubject {
  approval: Approval;
  request: ExecRecord | undefined;
}

/** Hash of everything that a decision covers: for commands also the bytes that would run (docs/decisions/0011-approvals.md). */
export function hashApproval({ approval, request }: ApprovalSubject): Promise<string> {
  const { id, tool, args, summary, purpose, outside, subAgent } = approval;
  return sha256(toCanonicalJson([id, tool, args, summary, purpose, outside, subAgent, request?.hash, request?.unreviewed]));
}

/**
 * The text that asks for a decision. `isComplete`: whether the person sees in it all that the approval covers, so that it may be allowed
 * there.
 */
export function describeApproval(
  { approval, request }: ApprovalSubject,
  kind: DeliveryTarget['kind'],
): { text: string; isComplete: boolean } {
  const { summary, args, purpose, outside, subAgent } = approval;
  const lines = [summary, ...(request ? [] : Object.entries(args).map(([name, value]) => `${name}: ${toText(value)}`))];
  if (purpose !== undefined) lines.push(`Purpose: ${purpose}`);
  if (subAgent) lines.push(`Sub-agent: ${subAgent.title}`);
  if (outside) lines.push(`After reading: ${outside.join(', ')}`);
  const raw = lines.join('\n');
  const printable = toPrintable(raw);
  // Platforms fetch previews of links, so an address that the model composed after reading from outside would leak data.
  const safe = outside ? removeComposedUrls(printable, []) : printable;
  const { chars, lines: maxLines } = MAX_SHOWN[kind];
  const fits = safe.length <= chars && safe.split('\n').length <= maxLines;
  const isComplete = fits && safe === raw && !(request && hidesContent(request));
  if (isComplete) return { text: safe, isComplete };
  const shown = safe
    .split('\n')
    .slice(0, maxLines)
    .join('\n')
    .slice(0, chars)
    .replace(/[\ud800-\udbff]$/, '');
  return { text: `${shown}${shown.length < safe.length ? '…' : ''}\n${OPEN_NOTE}`, isComplete };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : toCanonicalJson(value));

/** Whether a command would run or load something that its line does not show. */
const hidesContent = ({ scripts = [], unreviewed = [], isInterpreter = false }: ExecRecord): boolean =>
  scripts.length > 0 || unreviewed.length > 0 || isInterpreter;
