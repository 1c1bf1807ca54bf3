/** Irregular English word forms, and pet names of relatives. Each line begins with the base word. */
const FORMS = `
be am is are was were been being
go goes went gone going
do does did done
have has had having
buy bought
bring brought
think thought
catch caught
teach taught
seek sought
fight fought
sell sold
tell told
find found
send sent
spend spent
lend lent
bend bent
build built
feel felt
keep kept
sleep slept
leave left
mean meant
meet met
lose lost
win won
run ran
begin began begun
drink drank drunk
sing sang sung
swim swam swum
ring rang rung
sink sank sunk
come came
become became
give gave given
take took taken
forsake forsook forsaken
shake shook shaken
mistake mistook mistaken
make made
say said
pay paid
lay laid
hear heard
see saw seen
eat ate eaten
fall fell fallen
write wrote written
ride rode ridden
rise risen
drive drove driven
choose chose chosen
freeze froze frozen
speak spoke spoken
steal stole stolen
break broke broken
wake woke woken
wear wore worn
tear tore torn
swear swore sworn
bear bore born borne
know knew known
grow grew grown
throw threw thrown
fly flew flown
blow blew blown
draw drew drawn
show showed shown
hold held
stand stood
understand understood
sit sat
get got gotten
forget forgot forgotten
forgive forgave forgiven
shoot shot
light lit
hide hid hidden
bite bit bitten
lead led
read reads
feed fed
bleed bled
speed sped
hang hung
dig dug
stick stuck
strike struck
swing swung
spin spun
shine shone
sew sewed sewn
prove proved proven
beat beaten
child children
person people persons
man men
woman women
wife wives
life lives
knife knives
leaf leaves
shelf shelves
loaf loaves
half halves
wolf wolves
thief thieves
foot feet
tooth teeth
mouse mice
goose geese
ox oxen
datum data
medium media
criterion criteria
good better best
bad worse worst
far farther further furthest
study studies studied studying
die died dying
lie lied lying
tie tied tying
photo photos
tomato tomatoes
potato potatoes
hero heroes
echo echoes
analysis analyses
diagnosis diagnoses
crisis crises
thesis theses
gas gases
bus buses
quiz quizzes
mum mom mommy mummy mother
dad daddy father
grandma gran granny nana grandmother
grandpa grandad granddad grandfather
`;

/** Maps an irregular form to its base word. */
export const irregular: ReadonlyMap<string, string> = new Map(
  FORMS.trim()
    .split('\n')
    .flatMap((line) => {
      const [word = '', ...forms] = line.split(' ');
      return forms.map((form): [string, string] => [form, word]);
    }),
);
