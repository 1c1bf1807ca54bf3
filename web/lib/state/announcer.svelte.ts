const MAX_CHARS = 1_000;
/** Of a reply, mark-up and all: what is left of it without is seldom less than is said. */
const MAX_MARKDOWN_CHARS = 4 * MAX_CHARS;

/** What screen readers are told: finished replies, not every word as it comes. */
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
    // Where what reads it does not come, as from a version that was replaced, it is said as it is written.
    const said = await import('#lib/speech/spoken.ts').then(
      ({ readable }) => readable(text),
      () => text,
    );
    if (turn === this.#turn) this.say(said);
  }
}

export const announcer = new Announcer();
