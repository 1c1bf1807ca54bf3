import { type Artifact, type ArtifactKind, ArtifactReader } from '#lib/chat/artifacts.ts';
import { replyText } from '#lib/chat/items.ts';
import type { Chat } from './chat.svelte.ts';

/** Request to show code of a reply. `from`: the element that gets the focus back. */
export interface ArtifactAsked {
  kind: ArtifactKind;
  name: string | null;
  code: string;
  from: HTMLElement;
}

/** The artifact of a chat that is open beside it, and which of its versions. */
export class ArtifactView {
  readonly #reader = new ArtifactReader();
  readonly #chat: Chat;
  readonly #asked: () => ArtifactAsked;
  /** Null: the newest, also when another comes. */
  #chosen = $state<number | null>(null);

  readonly #all = $derived.by(() => {
    const stored = this.#chat.items.flatMap((item) => (item.kind === 'reply' ? [{ text: replyText(item.segments), growing: false }] : []));
    const { live } = this.#chat;
    return this.#reader.artifacts(live ? [...stored, { text: replyText(live.segments), growing: true }] : stored);
  });

  /** The shown artifact remains after its reply is removed. */
  readonly shown = $derived.by<Artifact>(() => {
    const { kind, name, code } = this.#asked();
    const found = this.#all.findLast((each) => each.kind === kind && each.versions.includes(code));
    return found ?? { id: `${kind} alone`, kind, name, versions: [code] };
  });
  readonly at = $derived(Math.min(this.#chosen ?? Infinity, this.shown.versions.length - 1));
  readonly code = $derived(this.shown.versions[this.at] ?? '');

  constructor(chat: Chat, asked: () => ArtifactAsked) {
    this.#chat = chat;
    this.#asked = asked;
  }

  /** Comes to the version that was asked for. */
  find(): void {
    this.choose(this.shown.versions.lastIndexOf(this.#asked().code));
  }

  choose(version: number): void {
    this.#chosen = version >= this.shown.versions.length - 1 ? null : version;
  }
}
