const MAX_CHARS = 1_000;
/** Of a reply, mark-up and all: what is left of it without is seldom less than is said. */
const MAX_MARKDOWN_CHARS = 4 * MAX_CHARS;

/** Text of the page's live region: finished replies rather than each word as it streams. */
class Announcer {
  text = $state('');
  #turn = 0;

  say(text: string): void {
    this.#turn++;
    const whole = text.trim();
    const short = whole.length > MAX_CHARS ? `${whole.slice(0, MAX_CHARS)} …` : whole;
    // A region that stays as it is says nothing: the same again differs by a space that is not heard.
    this.text = short !== '' && short === this.text ? `${short}\u00a0` : short;
  }

  /** Says a reply: its words and its code, without mark-up, unless something else is said before it is read. */
  async sayReply(markdown: string): Promise<void> {
    const turn = ++this.#turn;
    const text = markdown.slice(0, MAX_MARKDOWN_CHARS);
    // If the module cannot be loaded (after an update, for example), the text is announced unchanged.
    const said = await import('#lib/speech/spoken.ts').then(
      ({ readable }) => readable(text),
      () => text,
    );
    if (turn === this.#turn) this.say(said);
  }
}

export const announcer = new Announcer();
