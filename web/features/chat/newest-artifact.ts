import { ArtifactReader } from '#app/markdown/artifacts.ts';
import type { ArtifactRequest } from '#app/markdown/artifact-opener.ts';
import { type ChatItem, getReplyText } from '#app/state/chat-items.ts';

/** Width from which an artifact has room next to the chat, in CSS pixels. */
const MIN_WIDTH_PX = 1100;

/** The newest artifact of a chat, in its last version; undefined if there is none, or no room for it next to the chat. */
export function findNewestArtifact(items: readonly ChatItem[]): ArtifactRequest | undefined {
  if (innerWidth < MIN_WIDTH_PX) return undefined;
  const replies = items.flatMap((item) => (item.kind === 'reply' ? [{ text: getReplyText(item.segments), growing: false }] : []));
  const artifact = new ArtifactReader().findArtifacts(replies).at(-1);
  return artifact && { kind: artifact.kind, name: artifact.name, code: artifact.versions.at(-1) ?? '' };
}
