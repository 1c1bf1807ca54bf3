import { type Artifact, ArtifactReader } from '#app/markdown/artifacts.ts';
import type { ArtifactRequest } from '#app/markdown/artifact-opener.ts';
import { getReplyText } from '#app/state/chat-items.ts';
import type { Chat } from './chat.svelte.ts';

/** The artifact open next to a chat, and its selected version. */
export class ArtifactView {
  readonly #reader = new ArtifactReader();
  readonly #chat: Chat;
  readonly #request: () => ArtifactRequest;
  /** Null: always the newest. */
  #selectedVersion = $state<number | null>(null);

  readonly #artifacts = $derived.by(() => {
    const stored = this.#chat.items.flatMap((item) =>
      item.kind === 'reply' ? [{ text: getReplyText(item.segments), growing: false }] : [],
    );
    const { live } = this.#chat;
    return this.#reader.findArtifacts(live ? [...stored, { text: getReplyText(live.segments), growing: true }] : stored);
  });

  /** The shown artifact remains after its reply is removed. */
  readonly artifact = $derived.by<Artifact>(() => {
    const { kind, name, code } = this.#request();
    const match = this.#artifacts.findLast((each) => each.kind === kind && each.versions.includes(code));
    return match ?? { id: `${kind} alone`, kind, name, versions: [code] };
  });
  readonly versionIndex = $derived(Math.min(this.#selectedVersion ?? Infinity, this.artifact.versions.length - 1));
  readonly code = $derived(this.artifact.versions[this.versionIndex] ?? '');

  constructor(chat: Chat, getRequest: () => ArtifactRequest) {
    this.#chat = chat;
    this.#request = getRequest;
  }

  /** Selects the requested version. */
  selectRequested(): void {
    this.selectVersion(this.artifact.versions.lastIndexOf(this.#request().code));
  }

  selectVersion(version: number): void {
    this.#selectedVersion = version >= this.artifact.versions.length - 1 ? null : version;
  }
}
