const MAX_ANNOUNCED_CHARS = 1_000;
/** Of a reply, mark-up and all: what is left of it without is seldom less than is said. */
const MAX_MARKDOWN_CHARS = 4 * MAX_ANNOUNCED_CHARS;

/** Text of the page's live region: finished replies rather than each word as it streams. */
class Announcer {
  text = $state('');
  #turnCount = 0;

  announce(text: string): void {
    this.#turnCount++;
    const trimmed = text.trim();
    const short = trimmed.length > MAX_ANNOUNCED_CHARS ? `${trimmed.slice(0, MAX_ANNOUNCED_CHARS)} …` : trimmed;
    // A region that stays as it is says nothing: the same again differs by a space that is not heard.
    this.text = short !== '' && short === this.text ? `${short}\u00a0` : short;
  }

  /** Says a reply: its words and its code, without mark-up, unless something else is said before it is read. */
  async announceReply(markdown: string): Promise<void> {
    const turn = ++this.#turnCount;
    const text = markdown.slice(0, MAX_MARKDOWN_CHARS);
    // If the module cannot be loaded (after an update, for example), the text is announced unchanged.
    const spokenText = await import('#lib/speech/speech-text.ts').then(
      ({ toReadableText }) => toReadableText(text),
      () => text,
    );
    if (turn === this.#turnCount) this.announce(spokenText);
  }
}

export const announcer = new Announcer();
