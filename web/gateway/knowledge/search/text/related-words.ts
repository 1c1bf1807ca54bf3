/** English synonyms in everyday use; `_` joins the words of an expression. */
export const ALIKE = `
mother mum mom mama ma
father dad daddy papa pa
parent mother father mum dad folks
grandparent grandmother grandfather grandma grandpa
grandmother grandma gran granny nana nan
grandfather grandpa granddad grandad
sibling brother sister
brother bro
sister sis
child kid youngster little_one
child son daughter toddler baby
child offspring
baby newborn infant
son boy
daughter girl
eldest oldest firstborn
spouse husband wife partner
husband hubby
wife missus
partner girlfriend boyfriend other_half
girlfriend boyfriend date
fiance fiancee engaged
engaged propose
marry marriage wed
married hitched wed
bride groom wedding
honeymoon newlyweds
elope marry
divorce separate split_up break_up
breakup break_up split dump
ex former
ex divorced
dating seeing going_out
single unmarried unattached
bachelor single
relative relation kin family
relative aunt uncle cousin
aunt auntie
grandchild grandson granddaughter
stepmother stepmom stepmum
stepfather stepdad
stepchild stepson stepdaughter
in_laws mother_in_law father_in_law
adopt adoption
adopt foster
orphan adopted
godparent godmother godfather
godchild godson goddaughter
pregnant pregnancy expecting maternity
due_date pregnant
birth born birthday
birth deliver labour labor
miscarriage pregnancy
ancestor forefather
ancestry genealogy heritage roots family_tree
inherit heir
surname last_name family_name maiden_name
nickname pet_name called moniker
name called
namesake named_after
friend mate buddy pal chum
friend bestie
friendship friend
acquaintance contact
stranger unknown
neighbour neighbor next_door
roommate flatmate housemate
guest visitor
lodger tenant
affair unfaithful cheat
cheat betray betrayal
crush fancy attracted attraction
flirt chat_up
kiss snog
hug cuddle embrace snuggle
romance romantic
reconcile make_up
estranged fall_out
babysit babysitter sitter look_after
nanny childminder au_pair babysitter
childcare daycare nursery babysitter
nursery kindergarten preschool
nappy diaper
pram pushchair stroller buggy
cot crib
dummy pacifier
teenager teen adolescent youth
childhood upbringing grow_up
raise bring_up upbringing
adult grown_up
elderly old senior pensioner
youth young
man guy bloke chap fellow
woman lady
lad boy
lass girl
homemaker housewife stay_at_home
gay lesbian queer
transgender trans
gender sex
caregiver carer
custody divorce
bully pick_on
job work employment
job occupation profession vocation
job career gig
career profession job
employer company firm boss
workplace office
employee staff worker personnel
staff workforce team
boss manager supervisor superior
leader head chief lead
executive director
founder cofounder
owner proprietor
colleague coworker workmate teammate
assistant secretary
hire employ recruit take_on
recruiter headhunter
fired sack dismiss lay_off
layoff redundant
severance redundancy payout
quit resign step_down
quit notice hand_in_notice
salary pay wage income earnings
paycheck payslip payday
bonus commission
raise pay_rise salary
promotion promote move_up
demote demotion
interview applicant candidate
apply applicant
cv resume curriculum_vitae
reference referee
meeting conference call
meeting appointment
standup meeting
deadline due due_date
submit submission hand_in
client customer
contract agreement deal
negotiate bargain haggle
project assignment
task chore to_do
duty responsibility task
responsible in_charge
presentation slides powerpoint
speech talk lecture presentation
retire pension
freelance self_employed
freelance contractor
entrepreneur self_employed founder
startup business venture
business company enterprise firm
company corporation
intern internship placement
trainee apprentice apprenticeship
unemployed jobless out_of_work
unemployed dole welfare
shift rota
overtime extra_hours
remote home_office work_from_home
commute journey
day_off time_off leave
annual_leave holiday vacation
sick_leave sick_day
maternity_leave paternity_leave parental_leave
sabbatical career_break
burnout exhausted overwork
busy hectic swamped snowed_under
workload busy
crew team
branch office
headquarters head_office
union strike
strike walkout
sector industry field
conference convention summit
seminar workshop
training course workshop
mentor coach
feedback review
appraisal performance_review
evaluate assess
supervise supervisor oversee
delegate hand_over
revenue turnover
profit earnings gain
quota target
salesman salesperson seller
marketing advertising promotion
advertise advert ad
brand label make
launch release
warehouse depot
manufacture produce
supplier vendor
stock inventory
collaborate work_together
cooperate collaborate
workstation desk
carpenter joiner woodworker
hairdresser barber stylist
waiter waitress server
bartender barman barmaid
caretaker janitor
driver chauffeur
firefighter fireman
policeman policewoman police
postman mailman
soldier army military
army troops
researcher scientist
accountant bookkeeper
journalist reporter correspondent
translator interpreter
lawyer attorney solicitor barrister
estate_agent realtor
consultant adviser advisor
farmer farm
fisherman fishing
tailor seamstress
flight_attendant stewardess steward
pilot fly
priest minister vicar pastor
counsellor counselor therapist
psychologist psychiatrist therapist shrink
headteacher headmaster principal
school college
university college uni campus
secondary_school high_school
primary_school elementary_school
class course module
class lesson
lesson tuition
teacher instructor tutor
teach teacher tutor
teach tutor instruct
professor lecturer
student pupil
undergraduate student bachelor
postgraduate master
learner beginner
classmate schoolmate
degree diploma
degree bachelor master
certificate qualification diploma
qualified certified licensed
exam test quiz
exam finals midterm
study revise revision cram
study learn
fail flunk
fail failure
pass succeed
resit retake
grade mark score
result outcome
graduate degree
alumni graduate
dropout drop_out
enrol sign_up register
register registration
homework assignment coursework
essay paper
thesis dissertation
scholarship grant bursary
semester term
timetable schedule
major degree subject
subject topic theme
curriculum syllabus
textbook coursebook
dormitory dorm halls
study_abroad erasmus exchange
practise practice rehearse
memorise memorize learn_by_heart
educate schooling
vocabulary words
math mathematics
science scientific
research investigate study
laboratory lab
language tongue
fluent speak
bilingual fluent
accent dialect
mother_tongue native_language
truant skive
excursion field_trip outing
house home
house place
home residence
live reside
address street
apartment flat condo
studio bedsit
cottage cabin hut
villa mansion
rent rental lease
tenant renter
landlord landlady
deposit down_payment
mortgage home_loan
move relocate
move_in settle_in
move move_house
property real_estate
bedroom room
living_room sitting_room lounge
bathroom toilet loo restroom
washroom restroom
bath bathtub tub
shower wash
cooker stove oven
hob stove
hallway corridor
stairs staircase steps
lift elevator
garden yard backyard
garden allotment
lawn grass
lawn mow
balcony terrace patio
balcony planter
patio deck
porch veranda
basement cellar
attic loft
garage carport
shed outbuilding
greenhouse conservatory
fence railing hedge
gate entrance
entrance front_door
driveway parking
sofa couch settee
armchair chair
stool seat chair
wardrobe closet cupboard
cupboard cabinet
dresser chest_of_drawers
shelf bookcase bookshelf
cushion pillow
blanket duvet quilt comforter
bedding sheets linen
curtain drapes
blinds shutters
carpet rug mat
lamp light
bulb light
ornament decoration
tap faucet
sink basin
fridge refrigerator freezer
washing_machine washer
laundry washing
tumble_dryer dryer
vacuum hoover vacuum_cleaner
broom sweep
clean wash scrub
clean tidy
tidy neat
declutter clear_out tidy
mess messy untidy
dirty filthy
polish shine
housework chore cleaning
rubbish trash garbage waste
bin dustbin trash
throw_away bin discard
throw_out get_rid
dump tip
heating radiator heater
boiler furnace heating
fireplace chimney stove
air_conditioning aircon
damp mould mold
plumber plumbing pipes
electrician wiring electrics
leak drip
blocked clog
drain sewer
power electricity
outage blackout power_cut
socket outlet
wire cable
repair fix mend
handyman repairman
renovate remodel refurbish
renovate redo do_up
extension conversion
build builder construct
construction build
demolish knock_down tear_down
paint painter
wallpaper decorate
roof roofer
pane window
lock locksmith
locked_out key
assemble put_together build
install put_in
spanner wrench
torch flashlight
sellotape tape
rope string
mailbox letterbox postbox
pest infestation exterminator
money cash funds
money dosh
cash coins change
note banknote
pound quid sterling
dollar bucks
pence pennies
grand thousand
fiver five
tenner ten
price cost
cost charge fee
price amount
cost pay
amount sum total
estimate quote
expense cost
expenses spending
expensive pricey costly
overpriced rip_off
cheap inexpensive affordable
cheap bargain
free gratis no_charge
luxury posh
fancy posh
buy purchase
buy order
buy pick_up
sell sale
sell flog
discount sale reduced
discount deal special_offer
coupon voucher
pay payment
pay settle
splurge treat
save put_aside
savings nest_egg
poor poverty hard_up
skint penniless
rich wealthy wealth
fortune rich
debt owe
overdraft overdrawn
bankrupt bankruptcy insolvent
loan borrow lend
loan credit
repay pay_back
refund reimburse
refund money_back
compensate payout
invoice bill
cheque check
cash_machine atm cashpoint
pin passcode
transfer wire
stocks shares
crypto cryptocurrency bitcoin
deduct deduction
tip gratuity
donate charity
give donate
charity nonprofit
sponsor sponsorship
fund grant
finance financial
economy economic
recession crisis
exchange_rate currency
insurance policy coverage
deductible excess
warranty guarantee
subscribe subscription
unsubscribe cancel
membership subscription
lottery jackpot
bet gamble wager
scam fraud con
counterfeit fake forged
wallet purse
worth value valuable
worthless useless
shop store boutique
mall shopping_centre
supermarket grocery
groceries food_shop
pharmacy chemist drugstore pharmacist
butcher meat
second_hand vintage
charity_shop thrift_store
flea_market car_boot
garage_sale yard_sale
trolley cart
checkout till cashier
queue line
parcel package
deliver delivery
delivery courier
postage shipping
return send_back
exchange swap trade
browse look_around
clothes garment
outfit clothes
wear outfit
wear put_on
dress gown
suit tuxedo
suit blazer
trousers pants
shirt blouse
tshirt tee
jumper sweater pullover cardigan
hoodie sweatshirt
tracksuit joggers
jacket coat
raincoat waterproof
underwear knickers boxers
pyjamas pajamas
nightgown nightie
dressing_gown bathrobe
swimsuit bikini swimming_costume
shoes footwear boots
trainers sneakers
sandals flip_flops
hat cap beanie
scarf shawl
gloves mittens
jewellery jewelry
bracelet bangle
ring engagement_ring
watch wristwatch
glasses spectacles
handbag purse bag
backpack rucksack
umbrella brolly
fashion style
stylish fashionable trendy elegant
old_fashioned outdated
scruffy shabby
costume fancy_dress outfit
spotted polka_dot
plain simple
sew stitch
zip zipper
naked nude bare
undress take_off
fabric cloth
makeup cosmetics
perfume fragrance cologne
lotion cream moisturiser
sunscreen sun_cream suncream
shave razor
beard moustache
tattoo ink
haircut hairdresser barber
hairstyle haircut
fringe bangs
plait braid
wig hairpiece
redhead ginger
nail_polish nail_varnish
spa massage
doctor physician gp
doctor specialist surgeon
surgery surgeon operation
surgery operate procedure
dentist dental
dentist tooth
toothache cavity
orthodontist braces
optician optometrist eye_test
midwife antenatal
paediatrician pediatrician
gynaecologist gynecologist
physiotherapist physio physiotherapy
osteopath chiropractor
hospital clinic infirmary
hospital ward
emergency casualty
ambulance paramedic
urgent emergency
anaesthetic anesthetic
sick ill unwell poorly
illness disease sickness ailment
illness condition disorder
cold flu sniffle
flu influenza
bug virus
infection virus infected
covid coronavirus
pandemic lockdown covid
quarantine isolate
contagious infectious
fever temperature
vomit throw_up puke
nausea nauseous queasy
diarrhoea diarrhea
food_poisoning stomach_bug
heartburn indigestion reflux
stomach belly tummy abdomen
pain ache sore hurt
backache bad_back
headache migraine
dizzy lightheaded vertigo
faint pass_out collapse
seizure epilepsy
heart_attack cardiac
blood_pressure hypertension
asthma inhaler asthmatic
cancer tumour tumor
cancer chemo chemotherapy
remission recover
dementia alzheimer
arthritis rheumatism
anaemia anemia
allergy allergic intolerant
hay_fever pollen
coeliac celiac
itch itchy
rash eczema hives
spot pimple acne zit
swell swollen
bleed blood
wound cut injury
scratch graze
bandage plaster
cast fracture
fracture broken break
sprain twist
injury injure hurt
harm hurt
limp lame
disabled handicap wheelchair
eyesight vision
short_sighted myopia
medicine medication
medicine drug
pill tablet capsule medication
prescription prescribe
dose dosage
painkiller ibuprofen paracetamol aspirin
antibiotic penicillin
jab vaccine shot injection
injection needle
scan xray mri ultrasound
checkup check_up
symptom sign
treat treatment therapy
cure heal remedy treatment
recover recovery heal
recuperate convalesce recover
rehab rehabilitation
relapse recurrence
healthy fit
health wellbeing wellness
therapy therapist counseling
depression depressed
anxiety anxious
stress strain
mental psychological
addict addiction
sober teetotal
hungover hangover
drunk tipsy
smoke cigarette smoker
cigarette fag tobacco
cannabis marijuana weed
insomnia sleepless awake
sleep asleep
nap snooze doze siesta
sleepy drowsy
tired exhausted knackered shattered
exhausted worn_out
fatigue tired tiredness
nightmare bad_dream
oversleep sleep_in lie_in
caesarean c_section
contraception birth_control
period menstruation
fertility ivf
slim diet lose_weight
slim thin skinny
overweight fat obese
fat chubby plump
vitamin supplement
thirsty thirst dehydrated
hungry starving peckish hunger
appetite hungry
sweat perspire
shiver tremble
back spine
bottom bum butt backside
leg thigh calf
knee kneecap
finger thumb
muscle muscular
skin complexion
heart cardiac
bowel stomach
hygiene clean
die death dead pass_away
die decease perish
death loss
bereaved grief
grief grieve mourn
funeral burial cremation
funeral wake
bury burial grave
grave cemetery graveyard
coffin casket
obituary eulogy
survive survivor
hospice palliative
care_home nursing_home
dog puppy pup hound
dog doggy mutt canine
cat kitten kitty feline
rabbit bunny
vet veterinarian veterinary
breed pedigree
mongrel mutt crossbreed
litter kittens puppies
rescue shelter adopt
kennel cattery
cage hutch
aquarium tank
bark growl
neuter spay castrate
stray homeless
tame domestic
horse pony
horse equestrian riding
hen chicken chick
rooster cockerel
pig piglet
cow calf cattle
sheep lamb
frog toad
tortoise turtle
snake serpent
budgie parakeet
feed food
food meal
food grub
meal dish
eat dine
dish recipe
cook chef
cook recipe
cook prepare
cuisine food cooking
bake oven
roast oven
frying_pan skillet
barbecue bbq grill cookout
boil simmer
mix stir blend whisk
chop slice dice
slice piece
spicy hot
sweet sugary
sour tart
bland tasteless
delicious tasty yummy scrumptious
taste flavour flavor
disgusting revolting gross
mouldy rotten stale
expire best_before go_off
raw uncooked
leftovers left_over
breakfast brekkie
brunch breakfast
lunch midday
dinner supper
dinner evening_meal
starter appetiser appetizer
dessert pudding afters
snack nibble bite
buffet all_you_can_eat
feast banquet
takeaway takeout
fast_food junk_food
restaurant eatery bistro diner
restaurant dine eat_out
cafe coffee_shop coffeehouse tearoom
canteen cafeteria
bar pub
pub tavern inn boozer
coffee espresso latte cappuccino
tea cuppa brew
drink beverage
booze alcohol liquor
sip drink
beer ale lager pint
brew brewery
wine vineyard winery
champagne prosecco bubbly
sparkling fizzy carbonated
soda pop soft_drink
whisky whiskey scotch
mug cup
glass tumbler
toast cheers
ice_cream gelato sorbet
sweets candy
chocolate cocoa
biscuit cookie
crisps potato_chips
chips fries
cake gateau
cupcake muffin
pie tart
pancake crepe
doughnut donut
jam marmalade jelly
bread loaf sourdough
roll bun
sandwich wrap sarnie
yoghurt yogurt
omelette omelet
pasta spaghetti noodles
porridge oatmeal oats
soup broth
stew casserole
sauce gravy
ketchup tomato_sauce
mince ground_beef
burger hamburger cheeseburger
shrimp prawn
vegetable veg veggie greens
vegetarian veggie vegetable
vegan plant_based
vegetarian vegan
wholemeal whole_wheat
sweetcorn corn maize
courgette zucchini
aubergine eggplant
coriander cilantro
spring_onion scallion
chilli chili
beetroot beet
pickle gherkin
raisin sultana
homemade from_scratch handmade
tinned canned
saucepan pot pan
blender mixer
plate dish
cutlery silverware
crockery dishes
napkin serviette
full stuffed
trip travel journey
trip holiday vacation
trip tour excursion outing
holiday vacation getaway
holiday break
travel abroad
travel voyage
traveller backpacker
city_break getaway
cruise ship
expedition adventure
pilgrim pilgrimage
visit drop_by pop_over call_in
visit stay
visit come_over
sightseeing attractions sights
landmark monument attraction
itinerary route
route path
abroad overseas foreign
expat emigrant
emigrate immigrate move_abroad
immigrant migrant
refugee asylum
local native
resident inhabitant
tourist sightseer holidaymaker
map atlas
sat_nav navigation
hotel accommodation lodging
accommodation airbnb hostel
hotel inn motel
hotel resort
guesthouse bed_and_breakfast
book reserve
vacancy available
fully_booked sold_out
luggage suitcase baggage
suitcase case bag
frontier border
embassy consulate
jet_lag time_difference
seasick carsick motion_sickness
seaside beach coast
coast shore
tan sunburn
sunbathe tan
sea ocean
bay cove
harbour harbor port marina
lake pond
river stream brook creek
waterfall cascade
mountain hill
peak summit mountain
valley glen
forest woods woodland
jungle rainforest
island isle
cave cavern
countryside rural
village hamlet
city town
city urban
suburb outskirts
neighbourhood neighborhood
neighbourhood area district
region area
region province county
country nation
world globe earth
homeland home_country
hometown birthplace grow_up
origin roots
origin come_from
citizen citizenship nationality
citizenship naturalised passport
hike hiker trek
hike walk ramble
trail path
walk stroll wander
camp tent
campsite campground
campervan motorhome camper
caravan camper
campfire bonfire
car vehicle
car auto automobile
lorry truck
truck pickup
bike bicycle cycle
cycle cyclist
motorbike motorcycle moped scooter
train railway railroad rail
tram streetcar
underground tube subway metro
taxi cab uber
lift ride
hitchhike hitch
flight plane fly
plane aeroplane airplane aircraft
flight airline
airport terminal
layover stopover
helicopter chopper
boat ship
sail yacht
sail sailor
canoe kayak
station stop platform
ticket fare
ticket pass
single one_way
return round_trip
delay late
delay hold_up
passenger traveller
drive driver
driving_test driving_licence
licence license permit
traffic congestion
traffic_jam tailback rush_hour
motorway highway freeway
street road lane avenue
roundabout traffic_circle
crossroads intersection junction
pavement sidewalk
kerb curb
zebra_crossing crosswalk
car_park parking_lot
speeding speed_limit
crash accident collision
collide crash collision
breakdown break_down
flat_tyre puncture flat_tire
tyre tire
bonnet hood
windscreen windshield
number_plate license_plate
gearbox transmission
horn honk
petrol gas fuel
petrol_station gas_station
charge plug_in
dent scratch
accelerate speed_up
brake slow_down
overtake pass
hobby pastime interest
leisure free_time spare_time
fan enthusiast supporter
admirer fan
collect collector
antique vintage
craft handicraft
craft handmade
knit crochet yarn
yarn wool
sew dressmaking
embroidery cross_stitch
weave loom
pottery ceramics clay
woodwork carpentry
carve whittle
handwriting calligraphy
draw sketch doodle
illustrate drawing
comic manga cartoon
watercolour watercolor
painting picture artwork
painting canvas portrait
artist painter
art artist artwork
sculpture statue sculptor
gallery exhibition museum
exhibition exhibit show
photo picture image
photo snap snapshot selfie
photo photograph photography
music tune song
song track
melody tune
musician music
musician band
album record
vinyl record
lyrics words
band group
orchestra symphony
choir sing
sing singer
singer vocalist
song sing
piano pianist
guitar guitarist
violin violinist fiddle
drum drummer
concert gig recital
concert live
performance show
play drama theatre
theatre theater
ballet dance
dance dancer
actor actress
act actor
actor star
audience crowd
audition try_out
comedy comedian
comedian stand_up
magician magic
fair festival
funfair fair
theme_park amusement_park
ticket admission
film movie flick
cinema movies film
director filmmaker
series show
episode series
television tv telly
watch see
watch view
stream netflix
remote remote_control
plot storyline
character role
sequel follow_up
trailer preview
channel broadcast
podcast episode
headphones earphones earbuds
book novel
book paperback hardback
read reader
ebook kindle
author writer novelist
writer write
poem poetry poet
poet verse
story tale
story narrative
biography memoir autobiography
diary journal
magazine journal
newspaper paper
article piece
blog blogger
chapter section
publish publication
bookshop bookstore
library librarian
book_club reading_group
board_game game
puzzle jigsaw
riddle puzzle
quiz trivia
video_game gaming gamer
console playstation xbox nintendo
toy plaything
athlete sportsman
exercise workout work_out training
gym fitness
gym work_out
press_ups push_ups
coach trainer instructor
run runner jog
race marathon
sprint run
swim swimmer
swim pool
dive diver scuba
snorkel dive
football soccer footie
pitch field
racket racquet
golf golfer
skate skater
ski skier
ski snowboard
slope piste
sledge sled toboggan
surf surfer
climb climber
climb boulder
mountaineer climb
row rower
box boxer
angling fishing angler
hunt hunter
side team squad
team club
captain leader
referee umpire
match game fixture
tournament competition cup
championship league
contest competition
compete competition competitor
rival opponent
win winner
win victory
win first_place come_first
winner champion
beat defeat
lose defeat
lose loser
draw tie
score goal
score points
medal trophy cup
award prize reward
personal_best record
goalkeeper goalie
stadium arena
technology tech
gadget device
device machine
machine appliance
computer pc laptop
computer desktop
laptop macbook
tablet ipad
phone mobile smartphone
mobile cellphone cell_phone
phone iphone android
phone telephone
charger cable
screen display monitor
printer scanner
hard_drive disk ssd
usb_stick flash_drive
memory ram
processor cpu
gpu graphics_card
webcam camera
microphone mic
wifi wireless router
internet online web
internet wifi broadband
connection network
server host
cloud azure
website site webpage
homepage website
url link address
search look_up
query question
app application
software app program
update upgrade
version release
release deploy
install download
upload post
uninstall remove
configure config settings
setup configuration
settings preferences options
feature functionality
code program
programmer developer coder
developer software_engineer
code script
function method
parameter argument
dependency library package
framework library
api endpoint
ui interface
frontend ui
database db
schema structure
repository repo
git github
merge combine
pull_request merge_request
bug error defect
bug glitch fault
error exception
error mistake
crash freeze
lag slow
latency performance slow
debug troubleshoot
patch fix
reboot restart
deploy deployment rollout
refactor rewrite
deprecated obsolete
outdated obsolete
backup back_up copy
copy duplicate clone
delete remove erase wipe
undo revert roll_back
restore recover
folder directory
document doc
document paperwork
format layout
font typeface
template boilerplate
compress zip
password passcode
login log_in sign_in
login credentials
account profile
authentication login
permission access
encrypt encryption
private privacy
hack hacker breach
malware virus
spam junk
email mail
inbox mailbox
message text dm
text sms
notification alert
video_call zoom skype facetime
call phone ring
voicemail answering_machine
post share
tweet twitter
follower subscriber
clip video
forum message_board
comment remark
chatgpt ai
artificial_intelligence ai
chatbot assistant
prompt instruction
model llm
data information
info information
dashboard chart
chart graph diagram
diagram figure
statistics stats
formula equation
enumerate list
log record
measure metric
compare comparison
benchmark compare
track monitor
command instruction
shortcut hotkey
operating_system linux macos
smartwatch fitbit
smart_speaker alexa
drone quadcopter
weather forecast
climate weather
predict prediction forecast
sunny sunshine sun
rain rainy
rain drizzle downpour
rain wet
storm thunderstorm
hurricane typhoon cyclone
tornado twister
thunder lightning
wind windy
breeze wind gale
snow snowy
blizzard snow
ice icy
frost frosty
hail sleet
fog foggy mist
cloudy overcast
hot boiling scorching
heat hot heatwave
humid muggy
temperature degrees
cold chilly freezing
cool chilly
mild warm
warm warmth
dry drought
wet damp
soaked drenched wet
earthquake tremor
disaster catastrophe
wildfire fire
fire blaze
burn scorch
sky heaven
sunrise dawn
sunset dusk
outdoors outside
nature outdoors
environment ecology
environment green
pollution pollute
sustainable eco_friendly
renewable solar
windmill wind_turbine
energy power
wildlife animal
animal creature
plant grow
plant sow
planter pot
seed seedling
bush shrub
cultivate grow
grow growth
flower blossom bloom
bouquet flowers
compost manure
soil earth
dig spade
spade shovel
prune trim
harvest crop
harvest pick
leaf foliage
timber lumber wood
log firewood
agriculture farm
bee beehive beekeeper
mosquito midge gnat
insect bug
beetle bug
ladybird ladybug
snail slug
birdwatching birds
feather wing
seagull gull
zoo wildlife_park
extinct endangered
party bash
party celebrate
party gathering
gathering get_together reunion
celebrate mark
baby_shower pregnant
hen_party hen_do bachelorette
stag_do stag_party bachelor_party
farewell goodbye leaving_party
housewarming new_home
new_year resolution
christmas xmas
santa father_christmas
gift present give
parade procession
protest demonstration march
carnival mardi_gras
ceremony service
baptism christening baptise baptize
congratulate congrats
best_man groom
religion religious faith
belief believe faith
atheist agnostic
church chapel cathedral
mass church
muslim islam
catholic catholicism
jewish jew judaism
buddhist buddhism
hindu hinduism
pray prayer
bible scripture
quran koran
monk monastery
nun convent
soul spirit
horoscope star_sign zodiac astrology
ghost haunted
holy sacred
volunteer help_out
community local
member membership
member join
club society association
association organisation organization
organise organize arrange
meetup meet
committee board
government administration
politics politician
politician mp senator
president head_of_state
prime_minister premier
town_hall city_hall
council local_authority
parliament congress
elect election
vote ballot poll
vote election
campaign canvass
reform change
law legal
law legislation
illegal unlawful forbidden
rule regulation
guideline rule
ban prohibit forbid
allow permit permission
permission consent
court trial judge
court tribunal
sue lawsuit litigation
evidence proof
prove proof
witness testify
verdict judgment
guilty convict
guilty guilt
prison jail
prisoner inmate
arrest custody
police officer cop
detective investigator
accuse blame
blame fault
crime criminal
offence offense crime
steal theft stolen
steal nick pinch
steal rob robbery
thief burglar robber
burglary burglar break_in
murder kill
assault attack
violence violent
abuse mistreat
threat threaten intimidate
kidnap abduct
blackmail extort
bribe corruption
smuggle smuggler
vandal graffiti
escape flee get_away
victim casualty
terrorism terrorist
bomb explosion
explode explosion
gun pistol rifle
gun weapon
war conflict
war battle
fight battle
peace truce
invade invasion
spy espionage
form paperwork
fill_in form
id identity_card
copyright patent
right entitlement
entitled eligible
racism racist
sexism sexist
feminism feminist
emotion feeling
mood temper
happy glad pleased delighted
happy joyful
happiness joy
thrilled excited ecstatic
excited look_forward
sad unhappy upset
sad miserable
sadness sorrow
upset distressed
heartbroken devastated
gutted disappointed
disappoint let_down
cry weep sob
cry tears
laugh giggle chuckle
laugh laughter
smile grin
angry mad furious
angry annoyed cross
angry anger
rage fury
annoy irritate bother
annoy get_on_nerves
frustrated fed_up
jealous envious
jealousy envy jealous
afraid scared frightened
scared terrified
scary frightening creepy
fear afraid scared
fear phobia
worry concern
worry anxious
nervous anxious
tense tension
stressful hectic
overwhelmed swamped
panic freak_out
calm peaceful
calm relaxed
relax unwind chill
relax rest
relief relieved
comfort console
comfortable cosy cozy
proud pride
ashamed shame
embarrassed ashamed
embarrassing awkward
regret remorse
regret sorry
lonely loneliness alone
alone solo by_myself
bored boredom
boring dull tedious
surprise unexpected
surprised astonished amazed
shocked stunned surprised
amazing incredible awesome
brilliant fantastic great
wonderful lovely fantastic
excellent superb great
perfect ideal
terrible awful horrible
horrible nasty
lousy rubbish crap
nice pleasant lovely
beautiful pretty gorgeous
beauty stunning
attractive good_looking handsome
cute adorable
ugly hideous
funny hilarious amusing
funny humor humour
joke prank
strange weird odd
unusual rare
strange unusual
odd peculiar
normal ordinary usual
common usual
special unique
love adore
love affection
enjoy fun
enjoy love
fond keen
favourite favorite preferred
favourite love
hate dislike detest loathe
hate hatred
want wish desire
want would_like
crave yearn
need require
necessary essential vital
important significant
important priority
hope wish
hopeless despair
optimistic positive
pessimistic negative
dream aspiration ambition
goal ambition
shy timid
introvert shy
extrovert outgoing
sociable outgoing friendly
generous generosity
mean nasty
stingy tight_fisted
courteous manners
arrogant conceited
modest humble
honest honesty sincere
honest truthful
truth true
real genuine
loyal loyalty faithful
trust trustworthy
trust rely
reliable trustworthy
brave courage
patient patience
lazy idle
hardworking diligent
clever smart intelligent bright
stupid dumb idiot
silly daft foolish
wise wisdom
curious curiosity
interesting fascinating
interested keen curious
creative imaginative
stubborn obstinate
strict stern
bossy controlling
moody grumpy
sensitive touchy
clumsy accident_prone
careless reckless
forgetful absent_minded
talkative chatty
quiet shy
personality character
habit routine
behave behaviour behavior
attitude outlook
value principle
grateful thankful
grateful gratitude appreciate
sympathy compassion
respect admire
admire look_up_to
hero idol role_model
discourage put_off
insult offend
tease mock wind_up
opinion view
opinion stance
view perspective viewpoint
reckon guess
guess suppose
guess estimate
assume assumption presume
doubt unsure
unsure uncertain undecided
undecided torn
certain sure
convince persuade talk_into
obvious clear
confused puzzled
confuse mix_up confusion
understand comprehend grasp
realise realize
notice spot realise
recognise recognize identify
idea concept
idea suggestion
suggest suggestion
suggest propose
recommend suggest
advise advice
advise recommend
tip advice
hint clue
plan intend intention
plan arrange
plan scheme
strategy approach tactic
method technique approach
mean intend
goal aim target
purpose goal
reason cause
reason motive
reason purpose
excuse reason
effect result
effect impact
influence affect impact
consequence result
decide decision
decide choose
decide settle opt
choose choice
choose pick select
selection select
option choice alternative
substitute replacement alternative
replace swap
hesitate waver
change_mind reconsider
consider think_over ponder
agree agreement
agree consent
disagree disagreement
admit confess own_up
refuse decline say_no
reject rejection turn_down
decline turn_down
deny denial
object objection
problem issue trouble
problem difficulty
problem hitch snag
problem challenge
difficult hard tough tricky
struggle difficulty hard_time
easy simple straightforward
complicated complex
solve solution
solve sort_out resolve
solve work_out
solution answer
answer reply respond
compromise middle_ground
arrange set_up
ready prepared
cancel call_off scrap
cancel fall_through
postpone put_off delay
postpone push_back defer
reschedule postpone
procrastinate put_off
calendar diary
schedule calendar
appointment booking slot
spontaneous impulsive
promise vow pledge swear
obligation duty
offer proposal
opportunity chance
chance likelihood
likely probable
risk danger
dangerous unsafe hazard
safe safety
safe secure
protect protection
guard protect
defend defence defense
avoid steer_clear
prevent prevention
advantage benefit plus
disadvantage drawback downside
helpful handy
useless pointless
pointless waste_of_time
worthwhile worth
suitable appropriate
similar alike
opposite contrary
connect connection
compatible match
relevant related
belongings possessions stuff
talk speak chat
talk conversation chat
discuss discussion
discuss debate
discuss talk
chat conversation natter
gossip rumour rumor
inform let_know
mention bring_up
reveal disclose
reveal announce
secret confidential
confess confession
lie fib
deceive trick fool
pretend fake
exaggerate overstate
describe description
explain explanation
explain clarify
define definition
meaning definition
expression phrase
quote quotation
saying proverb
motto slogan
title rank
ask enquire inquire
enquiry inquiry
request ask
demand request
beg plead
call give_ring
shout yell scream
whisper murmur
complain complaint
complain moan grumble
criticise criticize
praise compliment
apologise apology
sorry apology
forgive pardon
argue argument quarrel row
argue fight bicker
argument dispute disagreement
tell_off scold
meet encounter come_across
meet get_to_know
meet get_together
catch_up meet
bump_into run_into
contact reach
contact get_in_touch
lose_touch drift_apart
write note
jot_down note
letter mail
postcard letter
sign notice
gesture wave
swear curse
report account
summarise summarize summary
overview summary
recap summary
joke pun
interrupt interruption
silent silence quiet
sound noise
noise racket noisy
loud noisy
ignore disregard
remember recall
remember memory
reminisce memories
forget slip_mind
nostalgia nostalgic
minute min
hour hr
fortnight two_weeks
fortnightly biweekly
week weekly
daily every_day
month monthly
year annual yearly
quarter quarterly
decade ten_years
century hundred_years
weekday workday
noon midday lunchtime
dawn morning
afternoon pm
evening tonight
evening night
overnight night
today nowadays
early premature
early_riser morning_person
night_owl stay_up
late overdue
late tardy
punctual on_time
recently newly
new recent
new latest
modern contemporary
ancient old
old former
former previous
previously formerly
earlier previously
past previous
currently nowadays
soon shortly
next upcoming
future upcoming
immediately instantly straightaway
often frequently regularly
frequency often
frequent regular
rarely seldom
sometimes occasionally
always constantly
temporary short_term
permanent forever
lifelong forever
duration length long
era period
age old
birthday date_of_birth
autumn fall
spring springtime
summer summertime
winter wintertime
expire run_out
wait await
wait hang_on
pause break
break rest
interval intermission
hurry rush
quick fast rapid
fast speed
slow sluggish gradual
sudden suddenly abrupt
begin start commence
start launch
start take_up
start set_up
kick_off start
beginner novice newbie
end finish
finish complete
finish wrap_up
conclude finish conclusion
complete completion
close shut
shut_down close_down
stop quit give_up
stop cease
give_up abandon
continue carry_on go_on
resume continue
last final
first initial
repeat repetition
number figure
number amount
quantity amount
count total
plenty loads lots
enough sufficient
shortage lack
extra additional
spare extra
rest remainder
couple two pair
dozen twelve
half fifty_percent
double twice
triple three_times
percentage percent
average typical
minimum least
entire whole
part piece
part portion
share split
divide split
subtract minus
increase rise
increase growth
decrease decline reduce
reduce cut_down
size big
size dimension measurement
big large
big huge
huge enormous massive gigantic
small little
small tiny
small compact
expand extend
extend extension
spacious roomy
cramped tight
tall height
height high
wide width
deep depth
narrow thin
distance far distant
distance miles kilometres
far remote distant
near close nearby
kilometre kilometer km
metre meter
centimetre centimeter cm
litre liter
weight weigh
weight heavy
weight kilo kg pounds
kilogram kilo kg
full packed
crowded packed
empty vacant
shape form
round circular circle
curve bent
flat level
steep slope
blunt dull
smooth soft
fluffy soft
solid hard
fragile delicate
slippery slick
sticky gooey
colour color
colour shade
pale light
dark dim
red scarlet crimson
purple violet lilac mauve
blue navy turquoise
beige cream
grey gray
gold golden
silver silvery
transparent see_through
shiny glossy
strong strength
strong powerful
force strength
quality standard
rating stars
middle centre center
edge side
corner angle
top peak
inside indoors
location place
location address
situated located
gap hole
room space
night_out go_out
arrive reach
arrive turn_up
return come_back
return go_back
leave depart departure
leave set_off
leave go_away
enter entrance
exit way_out
follow chase
chase pursue
fall trip tumble
fall slip
stumble trip
jump leap hop
sneak creep
turn rotate
spin rotate
shake wobble
push shove
pull drag tug
lift raise
throw toss chuck
catch grab
grab snatch
hold grip
carry lug
bring fetch
fetch collect pick_up
drop_off deliver
send post mail
send ship
transport move
hang suspend
wander roam
explore discover
stay remain
stay_over sleepover
stay spend_night
accompany come_along
join come_along
gather assemble
scatter spread
hide conceal
vanish disappear
appearance look
look_like appearance
look_like resemble
stare gaze
glance look
observe watch
view scenery panorama
landscape scenery
search look_for hunt
seek look_for
touch feel
hit punch slap
hit knock
kick boot
chew bite
swallow gulp
smell scent aroma
stink smell reek
odour odor smell
give hand_over
distribute distribution hand_out
provide supply
contribute contribution
contribute donate
receive gift
obtain acquire
receipt receive
reception receive
achieve accomplish
milestone achievement
keep hold_on
keep store
storage store
preserve conserve
souvenir memento keepsake
heirloom inherit
lose misplace
lose loss
lost missing
found discovered
find discover
find locate
find come_across
discovery discover
remove take_out
include contain
exclude leave_out
omit leave_out
skip miss
absent absence
attend go
attend participate
participate take_part
attendee participant
join take_part
join sign_up
use usage
consume consumption
waste squander
run_out use_up
create creation
create make
make build
make produce
item object
invent invention inventor
invent come_up_with
shape mould
establish set_up
attach fasten
tie knot
join connect
mixture mix
break smash
break crack
broken damaged
broken out_of_order
damage ruin
damage harm
destroy ruin
destroy destruction
ruin spoil wreck
spill knock_over
burst pop
fold crease
cut trim
crush squash
squeeze press
melt thaw
rust rusty
rot decay
maintain maintenance
service maintenance
improve enhance boost
correct accurate
correct fix
wrong incorrect mistaken
mistake blunder slip_up
mess_up mistake
edit revise
adjust tweak adapt
change alter modify
change switch
change transform
convert change
evolve develop
test try_out
try attempt
effort hard_work
check inspect verify
inspect inspection examine
operate run
control manage
turn_on switch_on
turn_off switch_off
glow shine
unlock open
wrap pack
cover wrap
shield protect
help assist
help support
help aid
helper assistant
favour favor
rescue save
serve service
guide lead
show demonstrate
show display
instruct instruction
manual handbook instructions
deal_with handle
handle cope
disturb bother
disturb disrupt
interfere meddle
succeed success
succeed make_it pull_off
triumph success
fail unsuccessful
fail fall_through
flop failure
lucky luck fortunate
unlucky unfortunate
coincidence chance
fate destiny
famous fame
famous well_known
skill ability
skill talent
able ability capable
expert specialist
professional pro expert
experience experienced
expertise know_how
progress headway
progress advance
chuffed pleased
stoked excited
gobsmacked surprised
dodgy suspicious
tacky naff
nosy curious
crooked wonky
fab fabulous
kip nap
copper policeman
loo_roll toilet_paper
toilet_roll toilet_paper
tissue handkerchief hanky
biro pen ballpoint
rubber eraser
drawing_pin thumbtack
postcode zip_code
full_stop period
candyfloss cotton_candy
garden_centre nursery
bedside_table nightstand
current_account checking_account
high_street main_street
jumble_sale rummage_sale
dungarees overalls
polo_neck turtleneck
waistcoat vest
lollipop popsicle
phone_box phone_booth
noughts_and_crosses tic_tac_toe
pet_hate pet_peeve
sick_of fed_up
terraced townhouse
hospital hospitalised
crazy mad insane
courteous well_mannered
stain spot
job position role vacancy
look_after care
rude bad_mannered
aquarium fish_tank
penalty fine
lie liar untrue
weekend saturday
questionnaire survey poll
socks stockings
move movers
reason explanation
origin birthplace hometown
diagnosed diagnosis illness
balcony garden
acetaminophen paracetamol tylenol
anaphylaxis epipen allergic
archive store
arrogant cocky
artwork masterpiece
automate script
barmy crazy
bevvy drink
birthday bday
bounce jump
burgle burglary
caretaker maintenance
cause lead_to
chemotherapy radiotherapy
climb ascend
cling_film plastic_wrap
collaborate partnership
commitment dedicated
contact_lenses lenses
corner_shop convenience_store
cowardly coward
cremation ashes
deckchair sunlounger
deer stag
default standard
deodorant antiperspirant
descend go_down
duck duckling
drag haul
empathy compassion
estate_car station_wagon
confident self_assured
expensive dear
fairy_tale story
fiction novel
firewall security
flea tick
fox vixen
furious livid
football_boots cleats
gamble casino
gossip hearsay
grab seize
greedy glutton
grumpy cranky
happy content
homesick miss_home
hostage kidnap
hummus houmous
independent self_sufficient
indicator turn_signal
inflation prices
interest passion
knowledge know_how
lake loch
lie_down rest
lodger boarder
lurgy cold
manicure nails
menopause hot_flushes
millionaire rich
mediocre average
nonfiction factual
nosh food
off_licence liquor_store
opponent enemy
ounce gram
packed_lunch lunchbox
parking_ticket fine
pedestrian walk
period phase
pity sorry
pickpocket thief
plimsolls trainers
positive upbeat
posh upmarket
possible feasible
potty toilet
premium insurance
pub_quiz trivia
quirk habit
rack shelf
rocket arugula
scar wound
scream shriek
selfish self_centred
sentence prison
shareholder investor
shrink smaller
shoplift steal
spectator fan
stalk stalker
steak sirloin
sublet rent
suicide kill
suspect accuse
suspicious shady
swimming_trunks swimsuit
syrup molasses treacle
teddy stuffed_animal
throw fling
thrift second_hand
toolbox toolkit
transplant donor
unconscious coma
untie loosen
upset devastated
vape e_cigarette
volcano eruption
weak feeble
wear_out worn
worm deworm
wrestle wrestler
back_pain backache
honour honor
armour armor
saviour savior
vapour vapor
endeavour endeavor
fibre fiber
programme program
catalogue catalog
dialogue dialog
analogue analog
plough plow
moustache mustache
aluminium aluminum
sceptical skeptical
storey story
draught draft
woollen woolen
skilful skillful
manoeuvre maneuver
oestrogen estrogen
leukaemia leukemia
haemorrhage hemorrhage
paediatric pediatric
orthopaedic orthopedic
encyclopaedia encyclopedia
archaeology archeology
mediaeval medieval
artefact artifact
gaol jail
speciality specialty
analyse analyze
paralyse paralyze
specialise specialize
prioritise prioritize
optimise optimize
socialise socialize
sympathise sympathize
emphasise emphasize
minimise minimize
maximise maximize
categorise categorize
visualise visualize
synchronise synchronize
fantasise fantasize
hypnotise hypnotize
legalise legalize
modernise modernize
sterilise sterilize
traumatise traumatize
moisturise moisturize
speak speech
free freedom
brave bravery
inquire inquiry
bake bakery baker
move movement
equipment gear
equipment kit
qualify qualification
identify identification
modify modification
simplify simplification
clarify clarification
notify notification
specify specification
specification requirements
resolve resolution
admit admission
expand expansion
persuade persuasion
collect collection
try trial
clean cleaner
law lawyer
invest investor
edit editor
visit visitor
instruct instructor
train trainer
gamble gambler
begin beginner
buy buyer
lend lender
employ employer
employ employee
science scientist
biology biologist
chemistry chemist
physics physicist
psychology psychologist
journal journalist
tour tourist
novel novelist
history historian
mathematics mathematician
beg beggar
france french
germany german
italy italian
spain spanish
portugal portuguese
greece greek
poland polish
russia russian
ukraine ukrainian
turkey turkish
sweden swedish
norway norwegian
denmark danish
finland finnish
ireland irish
scotland scottish
wales welsh
england english
britain british
britain uk
uk united_kingdom
netherlands dutch holland
belgium belgian
switzerland swiss
austria austrian
hungary hungarian
czech prague
romania romanian
bulgaria bulgarian
croatia croatian
serbia serbian
america american
america usa
usa united_states
canada canadian
mexico mexican
brazil brazilian
argentina argentinian
chile chilean
peru peruvian
colombia colombian
cuba cuban
china chinese
japan japanese
korea korean
india indian
pakistan pakistani
bangladesh bangladeshi
thailand thai
vietnam vietnamese
indonesia indonesian
philippines filipino
malaysia malaysian
australia australian
australian aussie
zealand kiwi
egypt egyptian
morocco moroccan
nigeria nigerian
kenya kenyan
ethiopia ethiopian
israel israeli
palestine palestinian
iran iranian persian
iraq iraqi
syria syrian
lebanon lebanese
saudi arabia
europe european
asia asian
africa african
`;

/** Categories and topics, each with the words that belong to it. */
export const KINDS = `
pet: dog cat rabbit hamster parrot guinea_pig gerbil goldfish turtle tortoise puppy kitten budgie canary ferret lizard gecko snake chinchilla mouse rat pony
animal: dog cat horse cow sheep goat pig chicken duck goose fox deer bear wolf squirrel hedgehog badger otter owl eagle whale dolphin seal elephant lion tiger leopard monkey gorilla giraffe zebra kangaroo koala panda rabbit hare donkey camel bat beaver moose
livestock: cow sheep goat pig chicken hen duck goose turkey cattle lamb calf
farm: cow sheep goat pig chicken tractor barn crop field harvest orchard stable
bird: parrot owl eagle robin sparrow pigeon crow magpie heron swan duck goose chicken hawk falcon finch blackbird woodpecker kingfisher seagull stork puffin penguin peacock flamingo pheasant buzzard starling hummingbird cockatoo canary budgie
breed: labrador poodle beagle terrier spaniel retriever shepherd corgi dachshund husky collie bulldog chihuahua rottweiler greyhound whippet pug schnauzer dalmatian labradoodle cockapoo shih_tzu siamese persian tabby bengal ragdoll maine_coon sphynx
dog: labrador poodle beagle terrier spaniel retriever shepherd corgi dachshund husky collie bulldog chihuahua rottweiler greyhound whippet pug dalmatian labradoodle cockapoo puppy
cat: siamese persian tabby bengal ragdoll tortoiseshell calico ginger kitten
horse: pony mare stallion foal mustang saddle stable gallop
fish: salmon tuna cod trout herring sardine mackerel haddock halibut carp pike goldfish koi eel anchovy shark
seafood: shrimp prawn crab lobster mussel oyster squid octopus calamari scallop clam salmon tuna cod
shellfish: shrimp prawn crab lobster mussel oyster clam scallop
insect: bee wasp ant fly mosquito butterfly moth beetle ladybird ladybug cricket grasshopper dragonfly cockroach flea hornet aphid
pest: mouse rat cockroach moth ant wasp slug snail aphid bedbug termite
reptile: snake lizard gecko tortoise turtle crocodile alligator iguana chameleon
rodent: mouse rat hamster gerbil squirrel guinea_pig
instrument: guitar piano violin cello drum flute clarinet saxophone sax trumpet ukulele bass keyboard banjo harp accordion trombone oboe viola recorder harmonica mandolin bagpipes synthesizer synth xylophone tuba fiddle double_bass
musician: guitarist pianist violinist drummer singer cellist bassist composer saxophonist dj rapper
music: jazz rock pop classical folk blues metal punk rap techno opera reggae choir concert band indie country hip_hop house song album orchestra guitar piano
genre: fantasy thriller mystery romance horror sci_fi biography comedy drama documentary western crime musical jazz rock pop classical folk blues metal punk techno
sport: football soccer tennis basketball volleyball badminton swimming running cycling climbing bouldering hockey rugby cricket baseball golf rowing skiing snowboarding judo karate boxing squash handball surfing skating netball lacrosse fencing archery gymnastics athletics triathlon sailing kayaking padel pickleball polo darts snooker wrestling diving table_tennis ping_pong
racket: tennis badminton squash padel
ball: football basketball volleyball tennis golf
team: football basketball volleyball hockey rugby cricket baseball handball netball
exercise: running yoga pilates swimming cycling gym squats plank jogging walking hiking crossfit spinning zumba aerobics stretching rowing push_ups sit_ups burpees
workout: gym yoga pilates squats deadlift treadmill crossfit zumba
gym: treadmill dumbbell bench_press squats deadlift workout
race: marathon half_marathon triathlon sprint 5k 10k relay ironman
martial_arts: judo karate taekwondo aikido kickboxing jiu_jitsu kung_fu capoeira boxing kendo
dance: salsa tango ballet waltz bachata swing flamenco hip_hop tap zumba ballroom foxtrot samba rumba breakdance lindy polka ceilidh
hobby: painting knitting gardening photography pottery chess cooking baking reading hiking fishing birdwatching woodworking sewing crochet embroidery calligraphy drawing dancing singing gaming collecting origami astronomy quilting climbing cycling running swimming guitar piano yoga juggling beekeeping geocaching brewing puzzles
craft: knitting crochet sewing embroidery pottery ceramics weaving origami macrame woodworking quilting candle jewellery felting calligraphy scrapbooking
art: painting drawing sculpture watercolour watercolor sketch pottery photography ceramics print mural collage portrait illustration acrylic charcoal
painting: portrait landscape watercolour watercolor acrylic oil still_life canvas mural fresco
artist: painter sculptor illustrator photographer potter picasso monet gogh rembrandt
collection: stamps coins vinyl records comics cards figurines magnets postcards antiques
game: chess poker scrabble monopoly catan checkers dominoes cards bingo sudoku crossword puzzle minecraft fortnite zelda mario tetris charades uno rummy bridge backgammon dungeons_and_dragons
board_game: chess monopoly scrabble catan risk cluedo backgammon checkers carcassonne pandemic
videogame: minecraft fortnite zelda mario tetris fifa pokemon skyrim sims roblox valorant overwatch
console: playstation xbox nintendo switch ps5 wii
toy: doll teddy lego puzzle train kite blocks puppet barbie yo_yo balloon
playground: swings slide seesaw sandpit climbing_frame
fruit: apple pear banana orange lemon lime cherry strawberry raspberry blueberry plum peach apricot grape mango pineapple melon watermelon fig kiwi blackberry cranberry grapefruit papaya pomegranate coconut nectarine clementine tangerine gooseberry rhubarb currant date passionfruit
berry: strawberry raspberry blueberry blackberry cranberry gooseberry currant
citrus: lemon lime orange grapefruit clementine tangerine mandarin
vegetable: tomato potato carrot onion garlic cucumber courgette zucchini pepper spinach lettuce cabbage kale broccoli cauliflower pumpkin squash aubergine eggplant bean pea leek beetroot radish celery asparagus artichoke turnip parsnip sweetcorn chard fennel sweet_potato
salad: lettuce tomato cucumber rocket radish coleslaw caesar
herb: basil parsley mint thyme rosemary sage coriander cilantro dill chives oregano tarragon marjoram
spice: cinnamon pepper paprika cumin turmeric ginger nutmeg saffron cardamom clove chilli chili vanilla coriander curry anise
nut: walnut almond hazelnut cashew pecan peanut pistachio macadamia chestnut
grain: wheat oats rice barley rye quinoa couscous bulgur millet
legume: bean lentil chickpea pea soya
meat: beef pork chicken lamb bacon ham sausage steak turkey duck veal venison mince salami chorizo
protein: meat egg tofu bean lentil chicken fish whey tempeh
dairy: milk cheese butter yoghurt yogurt cream
cheese: cheddar brie mozzarella parmesan feta gouda camembert goat stilton halloumi ricotta emmental gruyere blue mascarpone
bread: sourdough baguette ciabatta rye focaccia bagel roll bun toast pita naan brioche wholemeal tortilla
pastry: croissant danish strudel eclair scone muffin cinnamon_roll turnover
pasta: spaghetti penne lasagna lasagne ravioli linguine macaroni tagliatelle gnocchi carbonara bolognese pesto
dish: pasta pizza lasagna lasagne risotto curry soup stew salad burger sushi tacos paella ramen dumplings pie omelette casserole chili chilli gnocchi moussaka goulash burrito schnitzel stir_fry quiche roast pho pad_thai biryani fish_and_chips shakshuka tagine fajitas enchiladas carbonara bolognese
meal: breakfast lunch dinner supper brunch barbecue picnic feast roast
breakfast: cereal porridge oatmeal muesli granola toast pancake egg bacon waffle bagel
snack: crisps nuts popcorn chocolate biscuit cookie cracker pretzel granola
dessert: cake pie tiramisu ice_cream brownie cookie pudding cheesecake tart chocolate crumble pavlova mousse custard sorbet trifle pancake panna_cotta meringue apple_pie sundae
sweets: chocolate toffee fudge lollipop liquorice gummy marshmallow caramel candy nougat
candy: chocolate toffee fudge lollipop licorice gummy caramel
cake: sponge carrot cheesecake brownie cupcake muffin gingerbread chocolate victoria fruitcake tiramisu
sauce: ketchup mayo mayonnaise mustard pesto gravy soy salsa tabasco sriracha hollandaise
condiment: ketchup mayo mustard vinegar relish
drink: coffee tea wine beer juice water cocktail gin whisky whiskey vodka lemonade smoothie milk cider rum soda cola champagne prosecco espresso latte cappuccino hot_chocolate kombucha milkshake tonic
coffee: espresso latte cappuccino americano mocha flat_white macchiato decaf filter cortado
tea: chamomile peppermint green earl_grey chai matcha rooibos oolong
alcohol: wine beer gin whisky whiskey vodka rum tequila brandy cider champagne cocktail prosecco sherry port ale lager
cocktail: mojito margarita martini negroni daiquiri cosmopolitan bloody_mary spritz gin_and_tonic old_fashioned pina_colada caipirinha
wine: red white merlot chardonnay riesling rioja malbec pinot sauvignon cabernet shiraz bordeaux burgundy champagne prosecco
beer: lager ale stout ipa pilsner guinness pint
cuisine: italian indian chinese thai mexican japanese french greek korean vietnamese lebanese turkish ethiopian spanish
restaurant: pizzeria trattoria sushi steakhouse tapas brasserie diner bistro michelin menu
food: pizza pasta curry soup bread cheese rice sushi burger sandwich salad cake egg meat fish vegetable fruit tacos noodles chocolate dumplings stew steak
ingredient: flour sugar butter egg salt garlic onion yeast oil milk vanilla
baking: cake bread cookies muffins sourdough pie brownies scones flour yeast oven
diet: vegan vegetarian keto paleo gluten_free pescatarian low_carb fasting calories mediterranean dairy_free
allergy: nut walnut peanut shellfish pollen gluten dairy lactose penicillin dust cat egg soy wasp bee hay_fever latex strawberry
allergic: nut walnut peanut shellfish pollen gluten dairy penicillin dust cat egg soy wasp latex
vehicle: car bike bicycle motorbike motorcycle van truck lorry bus scooter tractor boat camper tram minivan jeep suv moped
car: volkswagen golf toyota honda ford bmw audi mercedes volvo fiat tesla mazda skoda renault peugeot hyundai kia subaru nissan citroen porsche jeep lexus vauxhall opel suv hatchback prius corolla civic
motorbike: harley yamaha ducati vespa kawasaki triumph
transport: bus train tram metro subway ferry taxi bike plane car coach underground bicycle
bike: mountain_bike tandem e_bike road_bike bmx pedal helmet saddle
boat: kayak canoe ferry yacht sailboat ship dinghy raft barge catamaran narrowboat cruise
airline: lufthansa ryanair easyjet emirates delta klm british_airways qatar united
commute: train bus tube metro bike drive tram
travel: flight train hotel passport trip abroad airport itinerary luggage
accommodation: hotel hostel airbnb motel campsite guesthouse resort cabin villa bed_and_breakfast chalet
luggage: suitcase backpack rucksack duffel carry_on holdall
landmark: eiffel colosseum big_ben statue cathedral castle tower acropolis sagrada taj_mahal
landscape: mountain hill valley lake river forest coast desert beach island cliff waterfall glacier meadow
family: mother father brother sister aunt uncle cousin grandmother grandfather son daughter niece nephew husband wife parents twin stepmother stepfather
relative: aunt uncle cousin niece nephew grandmother grandfather sister brother mother father son daughter in_laws stepmother
child: son daughter toddler baby boy girl twin teenager
parent: mother father stepmother stepfather
sibling: brother sister twin half_brother half_sister stepbrother stepsister
relationship: boyfriend girlfriend husband wife partner married dating single divorced engaged separated widowed
partner: husband wife boyfriend girlfriend fiance fiancee
wedding marry: bride groom bridesmaid best_man honeymoon ceremony vows reception bouquet veil aisle
baby: cot pram nappy diaper stroller crib nursery breastfeed
pregnancy: midwife ultrasound due_date trimester scan morning_sickness maternity
job: teacher nurse doctor engineer designer developer lawyer chef waiter waitress manager accountant journalist carpenter electrician plumber architect editor librarian barista cashier pharmacist translator photographer receptionist analyst consultant mechanic therapist dentist vet hairdresser programmer scientist paramedic firefighter policeman builder farmer baker actor social_worker flight_attendant pilot salesman secretary psychologist surgeon
profession: teacher nurse doctor engineer designer developer lawyer chef accountant journalist carpenter electrician plumber architect editor librarian pharmacist translator photographer analyst consultant mechanic therapist dentist vet hairdresser programmer scientist paramedic firefighter
occupation: teacher nurse doctor engineer designer developer lawyer chef waiter accountant journalist carpenter electrician plumber architect librarian pharmacist translator photographer mechanic
tradesman: plumber electrician carpenter builder roofer plasterer painter decorator joiner
doctor: surgeon cardiologist dermatologist gp paediatrician pediatrician gynaecologist neurologist oncologist radiologist psychiatrist
perk: bonus pension gym insurance stock_options company_car remote
workplace: office factory hospital school warehouse shop studio lab
meeting: standup retro retrospective one_on_one interview conference kickoff all_hands zoom
health: doctor hospital diagnosis surgery blood_pressure diabetes asthma allergy injury cholesterol medication illness
illness ill sick: flu cold cancer diabetes asthma covid pneumonia migraine infection fever arthritis depression bronchitis anaemia anemia measles chickenpox tonsillitis appendicitis shingles malaria lyme eczema psoriasis epilepsy alzheimer parkinson dementia stroke hepatitis endometriosis ibs leukaemia leukemia lupus
disease: cancer diabetes malaria measles tuberculosis alzheimer parkinson lyme leukaemia leukemia crohn lupus
condition: diabetes asthma epilepsy arthritis adhd autism ibs eczema psoriasis anaemia hypertension thyroid
symptom: fever cough headache rash nausea fatigue dizzy pain sneeze itch swelling
mental_health psychological: depression anxiety adhd ptsd bipolar ocd burnout therapy panic_attack anorexia bulimia
disorder: adhd autism ocd bipolar anorexia bulimia insomnia dyslexia
injury: sprain broken fracture torn twisted bruise concussion burn cut whiplash tear ligament dislocate
injured: sprained broke broken twisted torn pulled fractured hurt dislocate cut burn
body: knee ankle shoulder back wrist hip neck leg arm foot hand head elbow finger toe chest stomach face eye nose mouth thumb heel thigh rib
face: eye nose mouth chin cheek forehead eyebrow lip
bone: rib collarbone skull spine femur hip
joint: knee ankle shoulder hip elbow wrist
medicine: antibiotics ibuprofen aspirin paracetamol insulin antihistamine painkiller inhaler vitamin statin antidepressant tylenol cortisone steroid ointment codeine
vitamin: iron magnesium zinc calcium omega folic_acid
therapy: counselling counseling cbt physiotherapy psychologist acupuncture massage
surgery: bypass appendix transplant caesarean cataract hip_replacement knee_replacement hernia anaesthetic
test: blood xray mri scan ultrasound biopsy swab
dental: filling crown root_canal braces cavity wisdom_tooth implant
addiction: alcohol smoking drugs gambling nicotine
drug: cannabis cocaine heroin ecstasy lsd marijuana weed
sleep: insomnia nap nightmare bed snore pillow
subject: math maths mathematics physics chemistry biology history geography literature philosophy economics psychology law sociology politics engineering music linguistics anthropology statistics computer_science
science: physics chemistry biology astronomy geology botany zoology ecology
degree: bachelor master phd doctorate mba engineering medicine law
study: exam lecture thesis essay library revision
school: kindergarten primary secondary grammar boarding academy college montessori elementary
university: oxford cambridge harvard yale stanford mit princeton lecture campus
exam: driving finals midterm test certification bar ielts toefl gcse a_level sat gre
course: pottery spanish yoga cooking first_aid dance painting language coding photography
classroom: blackboard whiteboard teacher pupil desk
stationery: pen pencil notebook eraser ruler stapler marker envelope folder
language: english german french spanish italian portuguese japanese chinese mandarin cantonese korean russian arabic dutch swedish polish turkish greek hindi latin norwegian danish finnish hungarian czech ukrainian romanian hebrew welsh gaelic catalan urdu bengali thai vietnamese persian swahili sign_language
nationality: english german french spanish italian portuguese japanese chinese korean russian dutch swedish polish turkish greek indian norwegian danish finnish irish scottish welsh american canadian mexican brazilian australian british swiss austrian belgian ukrainian
country: france germany spain italy portugal greece japan china india mexico canada brazil argentina chile peru colombia australia norway sweden denmark finland iceland ireland scotland england wales poland croatia turkey egypt morocco kenya tanzania nigeria ghana thailand vietnam korea indonesia philippines nepal netherlands belgium austria switzerland hungary romania bulgaria ukraine russia czechia usa america britain zealand israel jordan cuba malaysia singapore
europe: france germany spain italy portugal greece norway sweden denmark finland iceland ireland poland croatia netherlands belgium austria switzerland hungary czechia
asia: japan china india thailand vietnam korea indonesia philippines nepal malaysia singapore
africa: egypt morocco kenya tanzania nigeria ghana ethiopia south_africa
abroad overseas: france germany spain italy portugal greece japan china india mexico canada australia thailand america
continent: europe asia africa america australia antarctica
city: paris london berlin rome madrid barcelona lisbon porto amsterdam vienna prague budapest tokyo kyoto chicago boston seattle toronto montreal vancouver sydney melbourne dublin edinburgh glasgow manchester liverpool bristol copenhagen stockholm oslo helsinki munich cologne milan florence venice naples athens istanbul brussels zurich geneva warsaw krakow new_york los_angeles san_francisco denver austin portland miami bangkok singapore dubai delhi mumbai beijing shanghai seoul hong_kong
state: california texas florida ohio oregon colorado michigan arizona nevada virginia georgia utah montana vermont maine
province: ontario quebec alberta manitoba
island: crete sicily mallorca majorca ibiza bali hawaii madeira tenerife corfu malta cyprus sardinia corsica santorini
mountain: everest alps pyrenees himalayas rockies dolomites kilimanjaro fuji snowdon matterhorn andes
river: thames rhine danube nile amazon seine mississippi
ocean: atlantic pacific indian arctic
planet: mars venus jupiter saturn mercury neptune uranus earth
season: spring summer autumn fall winter
spring: march april may
summer: june july august
autumn: september october november
winter: december january february
month: january february march april may june july august september october november december
weekday: monday tuesday wednesday thursday friday
day: monday tuesday wednesday thursday friday saturday sunday
weekend: saturday sunday
time_of_day: morning noon afternoon evening night midnight dawn dusk
colour color: red blue green yellow orange purple pink brown black white grey gray turquoise teal navy beige burgundy violet lilac maroon gold silver cream indigo magenta crimson lavender mint emerald olive khaki
pattern: striped checked tartan floral polka_dot paisley plaid
shape: circle square triangle rectangle oval heart star
material: wood metal leather wool cotton silk linen glass ceramic steel plastic oak brass copper stone brick marble concrete velvet denim bamboo granite rubber aluminium iron bronze
fabric: cotton silk linen wool velvet denim polyester cashmere corduroy tweed satin lace fleece
wood: oak pine birch walnut mahogany teak beech cherry maple plywood bamboo
metal: gold silver iron steel copper brass bronze aluminium titanium platinum
gemstone: diamond ruby emerald sapphire amethyst opal pearl garnet topaz
flower: roses tulip lily daisy orchid sunflower lavender peony daffodil geranium dahlia iris hydrangea carnation crocus snowdrop poppy violet marigold petunia begonia magnolia
tree: oak birch pine maple willow apple cherry fir beech olive elm ash chestnut cedar spruce poplar palm eucalyptus sycamore
plant: roses tomato basil fern cactus succulent orchid lavender herb tree flower ivy monstera aloe spider_plant bonsai seedling bulb shrub fig
garden: lawn flower tomato vegetables hedge planter seeds roses herbs compost pond
clothes clothing: dress shirt jacket coat jeans trousers skirt sweater jumper scarf hat gloves shoes boots socks suit hoodie blouse shorts cardigan leggings tights vest kimono tshirt
shoes footwear: boots trainers sneakers sandals heels slippers loafers clogs brogues stilettos
hat: cap beanie beret fedora bonnet turban
underwear: bra knickers boxers briefs panties
jewellery jewelry: ring necklace bracelet earrings brooch pendant watch locket cufflinks tiara bangle chain
accessory: scarf belt hat gloves sunglasses handbag watch tie
makeup: lipstick mascara foundation eyeliner blush
outfit: dress suit jeans tuxedo gown costume
costume: witch vampire pirate ghost superhero zombie princess
furniture: sofa couch table chair bed wardrobe shelf bookshelf desk dresser cupboard armchair bench lamp stool bookcase sideboard nightstand mattress ottoman cabinet
appliance: fridge oven dishwasher washing_machine dryer microwave toaster kettle blender vacuum freezer boiler cooker stove air_fryer hoover iron coffee_machine mixer
kitchenware: pan pot knife bowl plate mug whisk spatula wok colander cutlery
cutlery: knife fork spoon chopsticks teaspoon
dishes: plate bowl mug cup saucer
bedding: duvet pillow blanket sheets quilt
room: kitchen bedroom bathroom living_room attic basement hallway nursery study garage lounge cellar conservatory dining_room utility office
house: bungalow cottage villa mansion terraced detached semi duplex townhouse cabin farmhouse
tool: hammer drill screwdriver wrench spanner pliers ladder sander chisel axe chainsaw jigsaw hacksaw level tape_measure spade shovel rake
gardening: spade shovel rake hoe secateurs trowel wheelbarrow lawnmower compost weeding planting
repair: plumber electrician mechanic leak boiler roof screw
renovation: kitchen bathroom tiles floor paint wallpaper plaster extension loft
heating: radiator boiler furnace heat_pump thermostat fireplace
building: house church school tower castle barn cottage museum library hospital skyscraper mosque cathedral palace lighthouse mill warehouse block
shop store: supermarket bakery butcher pharmacy bookshop boutique florist greengrocer newsagent hardware ikea tesco aldi lidl walmart
supermarket: tesco aldi lidl sainsbury asda waitrose walmart costco rewe edeka carrefour kroger
device: phone laptop tablet camera printer router keyboard monitor headphones speaker kindle smartwatch
gadget: phone laptop tablet camera drone smartwatch kindle airpods headphones
phone: iphone samsung pixel android nokia huawei xiaomi galaxy
laptop: macbook thinkpad dell lenovo chromebook asus hp acer
computer: macbook laptop desktop imac thinkpad dell lenovo keyboard monitor
camera: canon nikon fujifilm leica gopro polaroid lens tripod dslr
headphones: airpods bose sony earbuds
software: photoshop powerpoint figma slack notion jira chrome vscode autocad
app: whatsapp instagram tiktok spotify duolingo strava uber slack notion tinder snapchat telegram signal
programming_language: python javascript typescript java rust go ruby php swift kotlin scala haskell perl matlab sql bash
programming: python javascript typescript java rust ruby php swift kotlin code algorithm function
framework: react angular vue svelte django flask laravel
database: postgres postgresql mysql sqlite mongodb redis oracle mariadb elasticsearch
editor: vscode vim emacs intellij sublime neovim
browser: chrome firefox safari opera
operating_system: windows linux macos ubuntu ios android debian fedora
cloud: azure gcp heroku vercel netlify
social_media: facebook instagram twitter tiktok snapchat linkedin reddit youtube pinterest mastodon
messenger: whatsapp telegram signal slack discord wechat viber
dating_app: tinder bumble
video_call: zoom skype facetime teams
streaming: netflix spotify disney hulu hbo youtube twitch
assistant: chatgpt claude siri alexa gemini copilot
email: gmail outlook inbox newsletter
payment: paypal venmo card cash cheque transfer klarna apple_pay
company: google amazon microsoft apple startup agency facebook ikea siemens ibm tesla netflix nvidia intel
bank: hsbc barclays lloyds santander revolut monzo citibank mortgage savings overdraft
crypto: bitcoin ethereum dogecoin
currency: euro dollar pound yen krona peso rupee yuan zloty
pay: salary rent bill invoice fee euros dollars pounds wage
price worth: euros dollars pounds cents bucks quid
cost: euros dollars pounds bucks quid thousand hundred grand
money: euros dollars pounds cash loan savings salary budget debt bank
investment: stocks shares bonds crypto bitcoin property gold etf fund
insurance: car health travel home life liability pet dental
expense: rent mortgage groceries bills insurance petrol electricity
bill: electricity gas water rent internet phone heating
utility: electricity gas water internet
tax: vat income_tax council_tax deduction
savings: isa pension fund deposit account
gift present: book voucher flowers necklace scarf ring chocolate wine perfume toy watch bracelet earrings socks jumper
event: wedding party concert festival conference funeral birthday graduation exhibition marathon fair reunion workshop fundraiser gala parade christening anniversary picnic
celebration: birthday wedding anniversary graduation christmas party christening engagement promotion
party: birthday housewarming cake balloons guests costume dj barbecue
holiday: christmas easter thanksgiving halloween diwali hanukkah ramadan eid beach hotel resort cruise camping
festival: glastonbury coachella oktoberfest carnival christmas easter diwali
christmas: santa tree carols stocking advent turkey presents mistletoe reindeer
easter: egg bunny
halloween: pumpkin costume trick_or_treat witch
jewish: hanukkah passover shabbat kosher synagogue rabbi bar_mitzvah
muslim: ramadan eid mosque halal quran imam hijab
hindu: diwali temple
christian: christmas easter church bible baptism
religion: christian muslim jewish buddhist hindu catholic protestant sikh mormon church mosque temple synagogue atheist orthodox quaker anglican
clergy: priest vicar pastor rabbi imam bishop monk nun minister
ceremony: wedding funeral graduation christening baptism inauguration
funeral: coffin burial eulogy cremation grave wake hearse
weather: rain snow storm sun wind fog hail heatwave thunder frost sunny cloudy rainy drizzle humid freezing hurricane
storm: hurricane tornado thunder lightning hail blizzard
disaster: earthquake flood hurricane wildfire tsunami tornado avalanche volcano landslide drought
feeling emotion: happy sad angry nervous excited worried proud lonely scared relieved grateful disappointed jealous anxious guilty ashamed embarrassed frustrated bored hopeful overwhelmed calm
mood: happy sad grumpy cheerful angry depressed moody
personality: shy outgoing introvert extrovert funny stubborn generous honest patient kind ambitious lazy sarcastic
fear: spider height dark flying clown snake needle public_speaking enclosed claustrophobia
phobia: spider height flying needle clown claustrophobia snake
crime: theft burglary murder robbery fraud assault kidnapping arson vandalism shoplifting blackmail
criminal: thief burglar murderer robber fraudster
weapon: gun knife pistol rifle sword bomb
punishment: fine prison jail detention suspension
court: judge jury lawyer trial verdict witness
law: lawyer court judge contract criminal attorney
government: president minister parliament mayor council senate congress
politician: president minister senator mayor mp councillor obama trump biden merkel
election: vote ballot candidate campaign poll
document: passport visa contract certificate licence invoice receipt lease will report pdf form
identification: passport licence id_card birth_certificate
permit: visa licence work_permit
film movie: thriller comedy horror documentary drama western star_wars pixar disney marvel
series: netflix sitcom drama episode season
book: novel memoir biography thriller poetry fantasy mystery series chapter author harry_potter
author: tolkien rowling austen orwell hemingway shakespeare dickens tolstoy murakami atwood
reading: book novel magazine kindle author chapter
theatre theater: play musical opera ballet actor stage
musical: hamilton wicked chicago les_miserables
band: beatles queen coldplay radiohead abba metallica u2 nirvana
composer: bach mozart beethoven chopin vivaldi brahms
media: newspaper television radio podcast magazine
photography: camera lens tripod portrait landscape darkroom
sewing: needle thread fabric dress sewing_machine quilt button
knitting: wool yarn needles scarf sweater socks
pottery: clay kiln wheel glaze mug bowl vase
camping: tent sleeping_bag campfire campsite stove
hiking: trail mountain boots summit backpack
fishing: rod bait hook river lake
cycling: bike helmet saddle pedal
skiing: slope piste snow alps chairlift
swimming: pool lengths laps goggles lake
climbing: bouldering rope harness wall summit
astronomy: telescope stars planets moon eclipse
woodworking: lathe chisel plank carving cabinet sander
chess: checkmate bishop knight pawn tournament
tennis: racket serve wimbledon court
football: goal striker goalkeeper pitch penalty liverpool arsenal chelsea manchester barcelona
golf: hole handicap club fairway
yoga: asana mat vinyasa ashtanga
beach: sand sea swimsuit surf sunbathe
outdoors: hiking camping fishing climbing kayaking picnic
leisure: cinema reading sports music museum game
chore housework: cleaning ironing laundry hoovering vacuuming dusting dishes mopping washing
cleaning: mop broom bleach sponge vacuum detergent
accident: crash collision fall injury ambulance
emergency: ambulance fire police hospital accident
volunteer: shelter charity soup_kitchen food_bank red_cross tutoring
charity: oxfam unicef red_cross food_bank shelter fundraiser
environment: recycling climate pollution solar plastic compost emissions
energy: solar wind nuclear gas coal electricity hydrogen
fuel: petrol gas diesel coal gasoline
technology: computer robot ai phone software drone internet
space: rocket astronaut planet moon satellite nasa
contact: phone email address number
measurement: metre kilo litre inch foot mile pound gallon
length: metre centimetre kilometre inch foot mile
height tall: feet metres centimetres cm inch
weight weigh heavy: kilos kg pounds stone gram
distance far: miles kilometres km metres minutes
duration long: minutes hours days weeks months years
age old: years birthday born twenties thirties forties fifties sixties
frequency often: daily weekly monthly yearly twice every
size: small medium large xl inches
quantity: dozen couple hundred several
toiletries: shampoo soap toothpaste toothbrush deodorant razor
hairstyle: bob fringe ponytail braid plait curls dreadlocks bun perm mohawk
haircut: bob fringe trim layers
appearance look: tall short blonde beard glasses tattoo hair slim curly
military: army navy soldier marine officer veteran
soldier: sergeant captain colonel
royal: king queen prince princess
road: motorway highway street lane avenue roundabout
error: exception crash timeout null traceback segfault
file: pdf csv json spreadsheet image
format: pdf csv json xml markdown yaml html
testing: unit_test pytest jest cypress playwright
version_control: git github gitlab commit branch
design: figma logo layout sketch prototype
development: frontend backend api deploy code testing
marketing: campaign advert seo brand newsletter
office: desk printer meeting colleague cubicle
interview: recruiter applicant questions cv
management: ceo director supervisor team_lead
seating: chair sofa stool bench armchair
bag: handbag backpack rucksack tote suitcase purse
light: lamp candle torch bulb lantern
mushroom: chanterelle porcini truffle shiitake
pizza: margherita pepperoni calzone
soup: minestrone gazpacho broth ramen borscht chowder
curry: tikka masala korma vindaloo thai madras
egg: scrambled fried poached boiled omelette
potato: chips fries mash roast crisps
rice: risotto paella sushi basmati biryani
noodles: ramen udon pho pad_thai soba
kitchen: oven stove sink fridge cupboard worktop
bathroom: shower bath toilet sink tiles
bedroom: bed wardrobe mattress nightstand
living_room lounge: sofa couch armchair tv fireplace
balcony: planter pots tomato herbs flowers
planter: tomato herbs flowers balcony
cook: recipe oven curry pasta soup stew roast
bake: cake bread cookies muffin sourdough pie brownie
move: apartment flat house relocate boxes
transportation: car bus train bike taxi
animal_sound: bark meow purr growl
hospital: surgery ward nurse operation ambulance
study_place: library campus classroom
water_sport: surfing sailing kayaking rowing swimming diving snorkelling paddleboarding windsurfing
winter_sport: skiing snowboarding skating sledging curling
contract: lease mortgage employment freelance
goal: marathon weight savings promotion learn
achievement: award medal promotion degree record marathon
bad_habit: smoking drinking nail_biting snacking
volunteering: shelter food_bank charity tutoring
souvenir: magnet postcard mug keyring tshirt
landlord: rent lease deposit tenant
neighbour neighbor: noise fence party
breakup: divorce separated ex
death: funeral grief cancer widow buried
weather_gear: umbrella raincoat wellies
anniversary: wedding years married
birthday: cake party candles present turned
destination: paris rome italy spain greece japan beach island
bug: insect mosquito beetle ant
noise: bark drill shout alarm music
smell: perfume smoke garlic mould
medication: antibiotics ibuprofen insulin antidepressant statin painkiller
`;

/** Idioms and the words that express their meaning; `my` matches any possessive. */
export const PHRASES = `
pop the question = propose engaged
get down on one knee = propose engaged
ask for my hand = propose engaged
tie the knot = marry
get hitched = marry
walk down the aisle = marry wedding
settle down = marry home
take the plunge = decide marry
big day = wedding
better half = spouse partner
other half = spouse partner
significant other = partner
get back together = reconcile
go their separate ways = separate
call it quits = separate quit
on the rocks = trouble relationship
go steady = dating relationship
ask out = date
hit it off = friend like
have a crush = love attracted
head over heels = love
fall head over heels = love
in a relationship = partner dating
have a bun in the oven = pregnant
in the family way = pregnant
baby on the way = pregnant
start a family = pregnant baby
give birth = born baby
my waters broke = birth
flesh and blood = family
next of kin = relative
black sheep = family outsider
only child = sibling
big brother = older brother
little sister = younger sister
under one roof = live together
move in together = live partner
get on like a house on fire = friend
see eye to eye = agree
fall out with = argue quarrel
bury the hatchet = reconcile forgive
patch things up = reconcile
clear the air = reconcile discuss
give the cold shoulder = ignore
give the silent treatment = ignore
keep in touch = contact
lose touch = contact
get in touch = contact
drop a line = write contact
give a ring = call phone
give a buzz = call phone
give a shout = contact
touch base = contact talk
word of mouth = recommendation
spill the beans = reveal secret
let the cat out of the bag = reveal secret
keep it under wraps = secret
keep it quiet = secret
get off my chest = confess
come clean = confess admit
beat around the bush = avoid
cut to the chase = directly
get to the point = directly
small talk = chat conversation
heart to heart = talk conversation
long story short = summary
in a nutshell = summary
on the tip of my tongue = forget
slip my mind = forget
ring a bell = remember familiar
learn by heart = memorise
know by heart = memorise
bear in mind = remember
keep in mind = remember
jog my memory = remember
trip down memory lane = nostalgia memories
pass away = die
kick the bucket = die
lose my battle = die
no longer with us = dead
rest in peace = dead
six feet under = dead buried
push up daisies = dead
be laid to rest = funeral buried
late husband = widow dead
late wife = widower dead
put to sleep = die pet vet
put down the dog = die pet vet
at death door = dying ill
under the weather = ill
off colour = ill
out of sorts = ill
come down with = ill caught
go down with = ill caught
catch a cold = ill
feel rough = ill
in hospital = hospitalised
under the knife = surgery operation
go under the knife = surgery operation
on the mend = recover
back on my feet = recover
full of beans = energetic
fit as a fiddle = healthy
in good shape = fit healthy
out of shape = unfit
clean bill of health = healthy
in remission = recover cancer
throw up = vomit
pass out = faint unconscious
pulled a muscle = injury
put my back out = injury back
out of breath = breathless
lose weight = diet slim
shed a few pounds = diet slim
put on weight = fat heavier
on the wagon = sober
fall off the wagon = drink relapse
give up smoking = quit smoke
cold turkey = quit
have a sweet tooth = sugar sweets
sleep like a log = sleep
sleep like a baby = sleep
not sleep a wink = insomnia
hit the hay = sleep bed
hit the sack = sleep bed
toss and turn = insomnia sleepless
burn the midnight oil = work late
pull an all nighter = work study night
burn the candle at both ends = exhausted overwork
burnt out = exhausted burnout
dead on my feet = exhausted
run off my feet = busy
up to my ears = busy
snowed under = busy
have a lot on my plate = busy
rushed off my feet = busy
let go = fired dismissed
get the sack = fired
get the boot = fired
given the push = fired
made redundant = redundant fired unemployed
between jobs = unemployed
out of work = unemployed
hand in notice = resign quit
give notice = resign quit
call it a day = finish stop retire
hang up my boots = retire
climb the ladder = promotion career
move up the ladder = promotion career
get a foot in the door = start job
land a job = hired job
take on staff = hire
work from home = remote
day off = leave holiday
time off = leave holiday
call in sick = ill absent
nine to five = job office
bring home the bacon = earn income
make a living = earn job
make ends meet = afford money
day job = work occupation
wear many hats = roles
learn the ropes = train learn
show the ropes = train teach
run the show = manage leader
think outside the box = creative
back to the drawing board = restart redo
back to square one = restart
from scratch = beginning homemade
get the ball rolling = start
kick off = start
in the pipeline = planned
on the back burner = postpone
put on hold = postpone pause
put on ice = postpone
take a rain check = postpone
call it off = cancel
call off = cancel
pull the plug = cancel stop
fall through = fail cancelled
bail out = cancel rescue
get cold feet = nervous doubt
chicken out = afraid cancel
have second thoughts = doubt
change my mind = decide reconsider
make up my mind = decide decision
sit on the fence = undecided
in two minds = undecided
on the fence = undecided
sleep on it = decide consider
pros and cons = advantages disadvantages
bite the bullet = decide endure
green light = approve approval
thumbs up = approve
turn down = reject refuse
give it a go = try
give it a shot = try
have a go = try
try my hand = try
get the hang = learn
throw in the towel = quit
pack it in = quit stop
cut down on = reduce
cut back on = reduce
break the bank = expensive
splash out = spend expensive
cost an arm and a leg = expensive
cost a fortune = expensive
cost the earth = expensive
cost a bomb = expensive
daylight robbery = expensive overpriced
pay through the nose = expensive
dirt cheap = cheap
for next to nothing = cheap
on the cheap = cheap
on a shoestring = cheap budget
on a budget = cheap
on the house = free
free of charge = free
tighten my belts = save budget
rainy day fund = savings
put money aside = save savings
strapped for cash = poor money
short of money = poor money
in the red = debt overdraft
in the black = profit
up to my eyes in debt = debt
rolling in it = rich
made of money = rich
make a killing = profit
go halves = share split
go dutch = share split
foot the bill = pay
pick up the tab = pay
chip in = contribute pay
rip off = overpriced fraud
be ripped off = overpriced fraud
go on sale = sell discount
shop around = compare prices
impulse buy = bought spontaneous
over the moon = happy
on cloud nine = happy
in seventh heaven = happy
tickled pink = happy pleased
walking on air = happy
jump for joy = happy
look forward to = excited anticipate
down in the dumps = sad
feel blue = sad
feeling low = sad depressed
heavy heart = sad
cry my eyes out = cry sad
burst into tears = cry
at the end of my tether = exhausted desperate
lose my temper = angry
hit the roof = angry
blow a fuse = angry
get on my nerves = annoy
drive me mad = annoy
drive me up the wall = annoy
fed up = frustrated annoyed
sick and tired = frustrated annoyed
have butterflies = nervous
freak out = panic
scared stiff = afraid
scared to death = afraid
keep calm = calm
let off steam = relax
chill out = relax
put my feet up = relax rest
let my hair down = relax fun
have a ball = fun enjoy
have a blast = fun enjoy
have a whale of a time = fun enjoy
not my cup of tea = dislike
mad about = love
crazy about = love
keen on = like enjoy
green with envy = jealous
give the creeps = scary
a pain in the neck = annoying
out of the blue = unexpected sudden
take by surprise = surprised
jaw dropped = surprised
believe my eyes = surprised
piece of cake = easy
walk in the park = easy
no brainer = easy obvious
child play = easy
hard nut to crack = difficult
uphill battle = difficult
easier said than done = difficult
in a pickle = trouble
in hot water = trouble
with flying colours = pass success
pass with flying colors = pass success
scrape through = pass
by the skin of my teeth = barely
hit the books = study
hit the nail on the head = correct
play truant = skip school
drop out = quit school
gap year = travel study
break a leg = luck
fingers crossed = hope luck
keep fingers crossed = hope luck
third time lucky = succeed
hit the jackpot = win lottery
go down the drain = fail waste
go belly up = bankrupt
go bust = bankrupt
miss the boat = miss late
hit the road = leave travel
off the beaten track = remote
get away from it all = holiday
itchy feet = travel
travel light = luggage
touch down = land arrive
see the sights = sightseeing tourist
behind the wheel = drive
put the pedal to the metal = fast
stuck in traffic = traffic late
run late = late
in the nick of time = time
once in a blue moon = rarely
every now and then = sometimes
now and again = sometimes
from time to time = sometimes
on a regular basis = regularly often
day in day out = daily
around the clock = constantly
two weeks = fortnight
ten years = decade
at the crack of dawn = early morning
early bird = early morning
night owl = late night
at the last minute = late
ages ago = long
the other day = recently
at the moment = currently
these days = currently nowadays
stone throw = near close
around the corner = near close
within walking distance = near close
middle of nowhere = remote
miles away = far
bird eye view = view
rain cats and dogs = rain
bucket down = rain
soaked to the skin = wet rain
take the dog out = walk dog
green fingers = garden gardening
green thumb = garden gardening
do up the house = renovate
lick of paint = paint
spring clean = clean tidy
spruce up = renovate decorate
put a roof over = house
get on the property ladder = buy house
first time buyer = buy house mortgage
move house = relocate
put down roots = settle live
have a few people round = party guests
throw a party = party host
bring and share = potluck
eat out = restaurant
grab a bite = eat
bite to eat = eat meal
have a bite = eat
whip up = cook
could eat a horse = hungry
eat like a horse = appetite
paint the town red = party pub
night on the town = party pub
hair of the dog = hangover
three sheets to the wind = drunk
face the music = punish consequence
behind bars = prison
break the law = crime illegal
take to court = sue lawsuit
press charges = sue police
break in = burglary
caught red handed = caught
pull strings = influence
lend a hand = help
give a hand = help
do a favour = help favour
do a favor = help favor
lean on = rely support
shoulder to cry on = comfort support
stick up for = defend
stand by = support
turn over a new leaf = change improve
pet peeve = annoy dislike
guilty pleasure = like enjoy
role model = admire hero
bucket list = wish goal dream
claim to fame = famous
household name = famous
go viral = popular internet
pull my leg = joke
kid around = joke
fish out of water = uncomfortable
couch potato = lazy
social butterfly = outgoing sociable
down to earth = modest practical
thick skinned = tough
short fuse = temper angry
heart of gold = kind generous
jack of all trades = skilled
dab hand = skilled
wet behind the ears = inexperienced beginner
brush up = practise improve
mother tongue = native language
out of order = broken
on the blink = broken
on its last legs = broken old
give up the ghost = broken died
conk out = broken
past its best = old
good as new = repaired
log in = login account
sign up = register join
run out of = lack
`;
